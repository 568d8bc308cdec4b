"""SIGTERM of the daemon: running tasks are asked to end, then killed; nothing is lost."""

import signal

import pytest

from client import fails
from daemon import TODO
from processes import alive

pytestmark = pytest.mark.spawned

OBEYS = """
trap 'echo told > {events}; read _ < {go}; exit 0' TERM
echo $REFRESH_ID > {events}
while :; do sleep 0.1; done
"""
CLINGS = "trap '' TERM; echo $REFRESH_ID > {events}; while :; do sleep 100; done"


@pytest.fixture
def running(daemon):
    """Starts a daemon in the middle of a refresh; returns the pipe with the task's steps and the task's gate."""

    def start(shell, **keys):
        events, go = daemon.pipe("events"), daemon.pipe("go")
        daemon.app({"name": "work", "shell": shell.format(events=events, go=go)}, **keys)
        daemon.start()
        daemon.run()
        assert events.line() == "1-1"
        return events, go

    return start


def test_a_drained_refresh_is_told_and_recorded_and_runs_again(daemon, running):
    events, go = running(OBEYS, grace="1min")
    daemon.signal(signal.SIGTERM)
    assert events.line() == "told"
    assert daemon.process.poll() is None, "refreshd did not wait for the task"
    go.let_go()
    assert daemon.wait() == 0
    assert alive(str(events)) == []
    daemon.start()
    assert events.line() == "2-1"
    (stopped,) = daemon.history()
    assert (stopped["id"], stopped["outcome"], stopped["stop_reason"]) == ("1-1", "failed", "shutdown")
    assert stopped["cause"]["kind"] == "stopped" and stopped["cause"]["stop_reason"] == "shutdown"
    assert daemon.show()["running"]["trigger"] == "retry"


def test_what_does_not_end_in_its_grace_is_killed(daemon, running):
    events, _ = running(CLINGS, grace="500ms")
    assert daemon.stop() == 0
    assert alive(str(events)) == []
    daemon.start()
    assert events.line() == "2-1"
    (stopped,) = daemon.history()
    assert stopped["stop_reason"] == "shutdown"
    assert stopped["duration_us"] >= 500_000


def test_a_second_signal_kills_at_once(daemon, running):
    events, _ = running(CLINGS, grace="1min")
    daemon.signal(signal.SIGTERM)
    daemon.notices.wait("STOPPING")
    daemon.signal(signal.SIGTERM)
    assert daemon.wait() == 0
    assert alive(str(events)) == []


def test_sigint_drains_as_well(daemon, running):
    """Ctrl-C in a terminal sends SIGINT."""
    events, go = running(OBEYS, grace="1min")
    daemon.signal(signal.SIGINT)
    assert events.line() == "told"
    go.let_go()
    assert daemon.wait() == 0


def test_nothing_starts_while_the_daemon_drains(daemon, running):
    """Neither by time nor on request; other calls are still served."""
    events, go = running(OBEYS, grace="1min", background_interval="10ms")
    queued = daemon.run()
    daemon.signal(signal.SIGTERM)
    assert events.line() == "told"
    with fails("org.refreshd.Manager.Held", app=TODO) as held:
        next(queued)
    assert [hold["name"] for hold in held["holds"]] == ["stopping"]
    with fails("org.refreshd.Manager.Held", app=TODO):
        daemon.refresh()
    assert daemon.status()["refreshing"] == 1
    go.let_go()
    assert daemon.wait() == 0
    assert events.lines_so_far() == []


def test_a_daemon_at_rest_stops_at_once(daemon):
    daemon.app("exit 100")
    daemon.start()
    assert daemon.stop() == 0
    assert not daemon.socket.exists()
