"""A daemon that hangs."""

import os
import signal

from service import app


def test_a_hung_daemon_is_killed_and_started_again_with_its_schedule_intact(refreshd, journal):
    refreshd.drop_in("[Service]\nWatchdogSec=1s\nTimeoutAbortSec=2s\n")
    refreshd.configure(app("exit 0", background_interval="24h"))
    refreshd.start()
    journal.wait("refreshFinished")
    before = refreshd.app()

    os.kill(refreshd.main_pid, signal.SIGSTOP)
    journal.wait("daemonReady", count=2)

    assert refreshd.show("NRestarts") == "1"
    assert "Watchdog timeout" in journal.text()
    after = refreshd.app()
    # The same moment, except for corrections of the wall clock in between.
    assert abs(after["due_us"] - before["due_us"]) < 1_000_000
    assert [each["id"] for each in refreshd.history()] == [before["last"]["id"]]


def test_a_daemon_at_work_and_one_at_rest_keep_the_watchdog_quiet(refreshd, journal):
    # A task that lasts three watchdog periods; meanwhile the event loop of the daemon runs.
    refreshd.drop_in("[Service]\nWatchdogSec=1s\n")
    refreshd.configure(app("sleep 3"))
    refreshd.start()
    assert refreshd.refreshctl("run", "org.example.todo").returncode == 0
    assert refreshd.show("NRestarts") == "0"
    assert refreshd.show("ActiveState") == "active"
