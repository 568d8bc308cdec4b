"""SIGKILL of the daemon at any moment."""

import pytest

from daemon import LAUNCHER, MAIL, TODO, Daemon, finished
from processes import alive
from waiting import Bound

# A task that forks into another session and out of its parent's sight. Its processes hold a lock as long as they
# live, and report if another process has the lock.
LOCKED = """
exec 9> {lock}; flock -n 9 || echo overlap > {events}
(setsid sh -c 'trap "" TERM; echo $REFRESH_ID > {events}; while :; do sleep 100; done' &)
read _ < {go}
"""


@pytest.mark.spawned
def test_a_refresh_that_the_daemon_lost_has_one_outcome(daemon):
    """The refresh is recorded as crashed, no process of it is left, no copy runs beside it, and the app runs again."""
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(LOCKED.format(lock=daemon.directory / "lock", events=events, go=go))
    daemon.start()
    daemon.run()
    assert events.line() == "1-1"
    assert alive(str(daemon.socket), "REFRESH_ID=1-1")
    daemon.kill()
    daemon.start()
    assert events.line() == "2-1"
    assert alive(str(daemon.socket), "REFRESH_ID=1-1") == []
    go.let_go()
    daemon.wait_for_output("2-1 finished")
    again, lost = daemon.history()
    assert (again["id"], again["trigger"], again["outcome"]) == ("2-1", "retry", "new_data")
    assert (lost["id"], lost["trigger"], lost["outcome"], lost["cause"]["kind"], lost["tasks"]) == (
        "1-1",
        "manual",
        "failed",
        "daemon_crashed",
        [],
    )
    assert alive(str(daemon.socket), "REFRESH_ID=") == []


@pytest.mark.spawned
def test_what_brings_the_daemon_down_twice_is_not_tried_a_third_time_at_once(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo $REFRESH_ID > {events}; read _ < {go}")
    daemon.start()
    daemon.run()
    for id in ["1-1", "2-1"]:
        assert events.line() == id
        daemon.kill()
        daemon.start()
    assert [refresh["cause"]["kind"] for refresh in daemon.history()] == ["daemon_crashed"] * 2
    assert [hold["name"] for hold in daemon.show()["holds"]] == ["never"]


def test_every_refresh_of_many_has_one_outcome(daemon):
    """The daemon is killed again and again while ten apps refresh as fast as they can. No id is lost or used twice."""
    ticks = daemon.pipe("ticks")
    apps = [f"org.example.app{number}" for number in range(10)]
    for app in apps:
        daemon.app(f"echo tick > {ticks}", id=app, background_interval="5ms")
    for _ in range(4):
        daemon.start()
        ticks.lines(30)
        daemon.kill()
    daemon.start()
    for app in apps:
        daemon.tell("logout", app)
    bound = Bound()
    while daemon.call("Manager.Status")["status"]["refreshing"]:
        assert bound.left, "a refresh does not end"
    refreshes = [refresh for app in apps for refresh in daemon.history(app)]
    assert len({refresh["id"] for refresh in refreshes}) == len(refreshes)
    if LAUNCHER == "spawn":
        crashed = [refresh for refresh in refreshes if refresh.get("cause", {}).get("kind") == "daemon_crashed"]
        assert crashed, "no kill hit one"
    # Each start counts ids from 1, and those that never began are the last.
    for start in range(1, 5):
        numbers = {int(refresh["id"].split("-")[1]) for refresh in refreshes if refresh["id"].startswith(f"{start}-")}
        assert numbers == set(range(1, len(numbers) + 1))


def test_what_was_answered_outlives_a_crash(daemon):
    """Intervals, a logout and a history, with SIGKILL right after the reply."""
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    refresh = daemon.refresh()
    daemon.call("Manager.Set", apps=[TODO], background_interval="3h", foreground_interval="2min")
    daemon.tell("logout", MAIL)
    daemon.kill()
    daemon.start()
    assert daemon.show()["background_interval"]["in_force"] == "3h"
    assert daemon.show()["foreground_interval"]["in_force"] == "2min"
    assert daemon.show(MAIL)["phase"] == "logged_out"
    assert daemon.history() == [refresh]
    daemon.tell("login", MAIL)
    daemon.call("Manager.Reset", apps=[TODO])
    daemon.kill()
    daemon.start()
    assert daemon.show()["background_interval"]["in_force"] == "never"
    assert daemon.show(MAIL)["phase"] == "background"


def test_a_lease_does_not_outlive_the_daemon(daemon):
    daemon.app("exit 100")
    daemon.start()
    daemon.lease("foreground")
    daemon.kill()
    daemon.start()
    assert daemon.show()["phase"] == "background"


@pytest.mark.spawned
def test_processes_of_another_daemon_are_left_alone(daemon, scratch):
    """The cleanup after a crash spares another daemon's processes, although the ids of their refreshes are equal."""
    (scratch / "other").mkdir()
    other = Daemon(scratch / "other")
    try:
        events, go = other.pipe("events"), other.pipe("go")
        other.app(f"echo started > {events}; read _ < {go}")
        other.start()
        stream = other.run()
        events.line()
        own_events, own_go = daemon.pipe("events"), daemon.pipe("go")
        daemon.app(f"echo $REFRESH_ID > {own_events}; read _ < {own_go}")
        daemon.start()
        daemon.run()
        assert own_events.line() == "1-1"
        daemon.kill()
        daemon.start()
        assert own_events.line() == "2-1"
        go.let_go()
        assert finished(stream)["outcome"] == "new_data"
    finally:
        other.close()
