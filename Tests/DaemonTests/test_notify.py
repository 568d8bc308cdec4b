"""The daemon's messages to a service manager (sd_notify(3))."""

import os
import signal
import time

import pytest

from daemon import MAIL


def test_ready_means_that_the_socket_answers(daemon):
    """At the moment of the message, and with the configuration in force."""
    daemon.app("exit 100")
    ready = daemon.start()
    assert ready["STATUS"] == "Keeping 1 app fresh."
    assert ready.pid == daemon.process.pid
    assert [app["name"] for app in daemon.call("Manager.List")["apps"]] == ["todo"]
    assert "READY" not in {name for notice in daemon.notices.seen[:-1] for name in notice}


@pytest.mark.parametrize("is_good", [True, False])
def test_a_reload_is_told_from_its_beginning_to_its_end(daemon, is_good):
    """RELOADING=1 with the time of its beginning, then READY=1, also if the reload failed."""
    daemon.app("exit 100")
    daemon.start()
    daemon.app("exit 100", id=MAIL, **({} if is_good else {"colour": "blue"}))
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    daemon.signal(signal.SIGHUP)
    reloading = daemon.notices.next()
    assert reloading["RELOADING"] == "1"
    assert before <= int(reloading["MONOTONIC_USEC"]) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000
    ready = daemon.notices.next()
    assert ready["READY"] == "1"
    if is_good:
        assert ready["STATUS"] == "Keeping 2 apps fresh."
    else:
        assert ready["STATUS"].startswith("Keeping 1 app fresh.") and str(daemon.file(MAIL)) in ready["STATUS"]


@pytest.mark.spawned
def test_stopping_is_told_with_the_time_that_it_may_take(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"trap 'read _ < {go}; exit 0' TERM; echo up > {events}; while :; do sleep 0.1; done", grace="20s")
    daemon.start()
    daemon.run()
    events.line()
    daemon.signal(signal.SIGTERM)
    stopping = daemon.notices.wait("STOPPING")
    assert stopping["STATUS"] == "Stopping: 1 refresh to end first."
    notice = stopping if "EXTEND_TIMEOUT_USEC" in stopping else daemon.notices.wait("EXTEND_TIMEOUT_USEC")
    assert 20_000_000 < int(notice["EXTEND_TIMEOUT_USEC"]) <= 60_000_000
    go.let_go()
    assert daemon.wait() == 0


def test_stopping_at_rest_asks_for_no_time(daemon):
    daemon.start()
    daemon.stop()
    assert "STOPPING" in daemon.notices.next()
    assert not any("EXTEND_TIMEOUT_USEC" in notice for notice in daemon.notices.seen)


def watchdog(pid, seconds):
    return {"WATCHDOG_USEC": str(int(seconds * 1e6)), **({"WATCHDOG_PID": str(pid)} if pid else {})}


def test_the_watchdog_is_kept_quiet_while_the_loop_turns(daemon):
    """At about half of its time; refreshes go on."""
    daemon.app("exit 100")
    daemon.start(environment=watchdog(None, 1))
    begin = time.monotonic()
    for _ in range(3):
        assert daemon.notices.wait("WATCHDOG")["WATCHDOG"] == "1"
        assert daemon.refresh()["outcome"] == "no_data"
    assert time.monotonic() - begin > 0.5


def test_a_daemon_that_hangs_is_silent(daemon):
    """A daemon that is stopped by SIGSTOP sends nothing, so that the watchdog ends it."""
    daemon.start(environment=watchdog(None, 0.4))
    daemon.notices.wait("WATCHDOG")
    daemon.signal(signal.SIGSTOP)
    os.waitpid(daemon.pid, os.WUNTRACED)
    while daemon.notices.is_waiting(0):
        daemon.notices.next()
    assert not daemon.notices.is_waiting(1)
    daemon.signal(signal.SIGCONT)
    daemon.notices.wait("WATCHDOG")


def test_a_watchdog_for_another_process_is_not_ours(daemon):
    """WATCHDOG_PID names the process that the watchdog is for (sd_watchdog_enabled(3))."""
    daemon.start(environment=watchdog(os.getpid(), 0.2))
    assert not daemon.notices.is_waiting(1)


def test_nobody_needs_to_listen(daemon):
    """Without $NOTIFY_SOCKET the daemon runs all the same."""
    daemon.app("exit 100")
    daemon.launch(environment={"NOTIFY_SOCKET": ""})
    daemon.wait_for_output("ready")
    assert daemon.refresh()["outcome"] == "no_data"
