"""Refreshes that run as children of the daemon when the daemon ends, by a stop or by SIGKILL."""

import os
import pathlib
import signal

from service import TODO, app, is_alive

# It prints its own process id and a grandchild's, which is in another process group and ignores signals.
STUBBORN = """
trap '' TERM
setsid sh -c 'trap "" TERM; while :; do sleep 100; done' &
echo $$ $! > /run/refreshd/pids
echo at work
while :; do sleep 100; done
"""


def pids():
    return [int(each) for each in pathlib.Path("/run/refreshd/pids").read_text().split()]


def test_stop_asks_the_tasks_to_end_and_writes_down_why(spawned, journal):
    spawned.configure(app("trap 'echo ending; exit 0' TERM; echo at work; sleep 100 & wait"))
    spawned.start()
    spawned.run_in_background()
    spawned.stop()
    assert spawned.show("Result") == "success"
    assert any("ending" in each["MESSAGE"] for each in journal.entries(REFRESH_APP=TODO))
    journal.wait("refreshStopped", REFRESH_APP=TODO)


def test_what_shutdown_cut_short_runs_again_after_the_start(spawned, journal):
    spawned.configure(app("echo at work; [ -e /run/refreshd/again ] || sleep 100"))
    spawned.start()
    spawned.run_in_background()
    spawned.stop()
    pathlib.Path("/run/refreshd/again").touch()
    spawned.start()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    again, cut_short = spawned.history()
    assert again["outcome"] == "new_data" and "stop_reason" not in again
    assert (cut_short["outcome"], cut_short["stop_reason"]) == ("failed", "shutdown")


def test_a_task_that_hears_no_sigterm_is_killed_after_its_grace_with_all_it_started(spawned):
    spawned.configure(app(STUBBORN, grace="1s"))
    spawned.start()
    spawned.run_in_background()
    tree = pids()
    assert all(is_alive(each) for each in tree)
    spawned.stop()
    assert not any(is_alive(each) for each in tree)
    assert spawned.show("Result") == "success"


def test_a_killed_daemon_comes_back_with_one_outcome_and_no_orphan(spawned, journal):
    spawned.configure(app(STUBBORN, deadline="10min"))
    spawned.start()
    spawned.run_in_background()
    first = spawned.app()["running"]["id"]
    tree = pids()
    assert set(tree) < set(spawned.processes())

    os.kill(spawned.main_pid, signal.SIGKILL)
    journal.wait("daemonReady", count=2)

    assert spawned.show("NRestarts") == "1"
    assert not any(is_alive(each) for each in tree)
    [lost] = spawned.history()
    assert (lost["id"], lost["outcome"], lost["cause"]["kind"]) == (first, "failed", "daemon_crashed")
    # The app runs again, once.
    journal.wait("taskOutput", count=2)
    assert spawned.app()["running"]["id"] != first
    assert all(is_alive(each) for each in pids())


def test_a_killed_daemon_that_does_not_come_back_leaves_no_orphan_either(spawned):
    spawned.drop_in("[Service]\nRestart=no\n")
    spawned.configure(app(STUBBORN))
    spawned.start()
    spawned.run_in_background()
    tree = pids()
    os.kill(spawned.main_pid, signal.SIGKILL)
    # Waits until systemd has cleaned up after the service.
    spawned.stop()
    assert spawned.show("Result") == "signal"
    assert not any(is_alive(each) for each in tree)
