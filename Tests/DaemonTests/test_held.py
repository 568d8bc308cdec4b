"""A due refresh that is held for longer than the app's file allows: reported once."""

import pytest

from daemon import MAIL, TODO
from test_clock import machine, needs_root  # noqa: F401 (fixtures)

HOUR = 3600


def tells(pipe):
    """A command that reports its input to the test."""
    return ["/bin/sh", "-c", f"echo $REFRESH_APP $REFRESH_HELD_FOR $REFRESH_HOLDS ${{REFRESH_TOKEN:-none}} > {pipe}"]


@needs_root
def test_a_long_wait_is_told_of_once(daemon, wall, machine):
    """The wait is as long as the machine was off; neither a restart nor another hold begins it anew."""
    reports = daemon.pipe("told")
    daemon.app("exit 100", background_interval="1h", held_for="2h", on_held=tells(reports))
    daemon.app("exit 100", id=MAIL)
    machine.boot()
    daemon.refresh()
    daemon.call("Manager.Pause")
    daemon.stop()
    wall.set_off(+2)
    machine.boot()
    daemon.settle()
    # It became due while the machine was off: it is held from now on.
    assert reports.lines_so_far() == []
    daemon.stop()
    wall.set_off(+3)
    machine.boot()
    app, seconds, hold, token = reports.line().split()
    assert (app, hold, token) == (TODO, "paused", "none") and abs(int(seconds) - 24 * HOUR) < 60
    daemon.wait_for_output("its refresh has been due and held for 1d")
    daemon.stop()
    wall.set_off(+4)
    machine.boot()
    daemon.settle()
    assert reports.lines_so_far() == []
    assert daemon.show()["held_for_us"] == 2 * HOUR * 1_000_000 and "held_for_us" not in daemon.show(MAIL)


@needs_root
def test_an_end_of_the_wait_ends_it(daemon, wall, machine):
    reports = daemon.pipe("told")
    daemon.app(id=TODO, background_interval="1h", held_for="2h", on_held=tells(reports))
    machine.boot()
    for days in (1, 2):
        daemon.settle()
        assert [hold["name"] for hold in daemon.show()["holds"]] == ["app"]
        daemon.stop()
        wall.set_off(days)
        machine.boot()
        assert reports.line().split()[2] == "app"
        # The app reports its own sync: nothing is due, and a new wait begins later.
        daemon.call("App.Synced", app=TODO)
        daemon.stop()
        wall.set_off(days + 0.1)
        machine.boot()
        daemon.settle()
        assert reports.lines_so_far() == []


@needs_root
def test_a_command_that_fails_is_a_warning(daemon, wall, machine):
    daemon.app(id=TODO, background_interval="1h", held_for="2h", on_held=["/bin/sh", "-c", "exit 3"])
    machine.boot()
    daemon.settle()
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    daemon.wait_for_output("cannot run on_held: it ended with exit code 3")


@needs_root
def test_few_commands_of_a_user_run_at_once(daemon, wall, machine):
    """After a start many apps may have waited too long; all are reported in the end."""
    reports, go = daemon.pipe("told"), daemon.pipe("go")
    ids = [f"org.example.app{number}" for number in range(9)]
    for id in ids:
        told = ["/bin/sh", "-c", f"echo begin $REFRESH_APP > {reports}; read _ < {go}; echo end > {reports}"]
        daemon.app(id=id, background_interval="1h", held_for="2h", on_held=told)
    machine.boot()
    events = daemon.client.stream("Manager.Watch")
    # Their first turns are spread over seconds.
    while any(not app["holds"] for app in daemon.call("Manager.List")["apps"]):
        next(events)
    daemon.settle(ids[0])
    events.close()
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    begun = [reports.line(within=60)] + reports.lines(7)
    assert all(line.startswith("begin") for line in begun)
    daemon.call("Manager.Set", apps=[ids[0]])
    assert reports.lines_so_far() == []
    rest = []
    while len(begun) + len(rest) < 2 * len(ids):
        go.let_go()
        rest += reports.lines(1)
    assert {line.split()[1] for line in begun + rest if line.startswith("begin")} == set(ids)


@pytest.mark.parametrize("keys, key", [({"on_held": ["/usr/bin/true"]}, "on_held"), ({"held_for": "10s"}, "held_for")])
def test_a_command_without_a_time_and_a_short_time_are_mistakes(daemon, keys, key):
    daemon.app("exit 100", **keys)
    daemon.start()
    [problem] = daemon.call("Manager.Check")["problems"]
    assert problem["key"] == key
