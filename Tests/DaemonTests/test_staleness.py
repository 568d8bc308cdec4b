"""Data that is older than the app's file allows: listed first, and reported once."""

from daemon import MAIL, TODO
from test_clock import machine, needs_root  # noqa: F401 (fixtures)
from wall import DAY, wall  # noqa: F401 (fixtures)


def tells(pipe):
    """A command that reports its input to the test."""
    return ["/bin/sh", "-c", f"echo $REFRESH_APP $REFRESH_DATA_AGE ${{REFRESH_TOKEN:-none}} > {pipe}; echo aloud"]


@needs_root
def test_stale_data_is_told_of_and_listed_first(daemon, wall, machine):
    """The command is not a refresh, and has no token to complete."""
    reports = daemon.pipe("told")
    daemon.app("exit 100", id=MAIL)
    daemon.app("exit 100", stale_after="1h", on_stale=tells(reports))
    machine.boot()
    daemon.refresh()
    assert [row["id"] for row in daemon.call("Manager.List")["apps"]] == [MAIL, TODO]
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    app, age, token = reports.line().split()
    assert app == TODO and abs(int(age) - 86_400) < 60 and token == "none"
    stale, fresh = daemon.call("Manager.List")["apps"]
    assert (stale["id"], fresh["id"]) == (TODO, MAIL) and "stale_since_us" not in fresh
    assert stale["stale_since_us"] == stale["fresh_us"] + DAY // 24
    shown = daemon.show()
    assert (shown["stale_after_us"], shown["stale_since_us"]) == (DAY // 24, stale["stale_since_us"])
    daemon.wait_for_output("its data is 1d")
    daemon.wait_for_output("on_stale: aloud")
    daemon.stop()
    machine.boot()
    daemon.settle()
    assert reports.lines_so_far() == [] and len(daemon.history()) == 1
    daemon.refresh()
    assert [row["id"] for row in daemon.call("Manager.List")["apps"]] == [MAIL, TODO]


@needs_root
def test_an_app_that_is_off_is_not_told_of(daemon, wall, machine):
    """An app without any data is stale from its first sighting on."""
    reports = daemon.pipe("told")
    daemon.app("exit 100", stale_after="1h", on_stale=tells(reports))
    daemon.app("exit 100", id=MAIL, stale_after="1h", on_stale=tells(reports))
    machine.boot()
    daemon.call("Manager.Disable", apps=[TODO])
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    assert reports.line().split()[0] == MAIL
    assert "stale_since_us" not in daemon.show()
    daemon.settle()
    assert reports.lines_so_far() == []


@needs_root
def test_a_command_that_cannot_tell_is_a_warning(daemon, wall, machine):
    daemon.app("exit 100", stale_after="1h", on_stale=["/bin/sh", "-c", "exit 3"])
    machine.boot()
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    daemon.wait_for_output("cannot run on_stale: it ended with exit code 3")
    assert daemon.history() == []


@needs_root
def test_a_daemon_that_stops_takes_the_command_with_it(daemon, wall, machine):
    """Nobody waits for the command, and it does not outlive the daemon."""
    reports, go = daemon.pipe("told"), daemon.pipe("go")
    daemon.app(
        "exit 100", stale_after="1h", on_stale=["/bin/sh", "-c", f"trap '' TERM; echo > {reports}; read _ < {go}; echo > {reports}"]
    )
    machine.boot()
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    reports.line()
    assert daemon.stop() == 0
    go.let_go()
    assert reports.lines_so_far() == []


@needs_root
def test_who_watches_is_told_of_stale_data(daemon, wall, machine):
    daemon.app("exit 100", stale_after="1h")
    machine.boot()
    fresh = daemon.refresh()
    daemon.call("Manager.Disable", apps=[TODO])
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    stream = daemon.client.stream("Manager.Watch")
    daemon.call("Manager.Enable", apps=[TODO])
    reports = [next(stream)["event"] for _ in range(3)]
    [stale] = [event for event in reports if event["kind"] == "stale"]
    assert (stale["app"], stale["since_us"]) == (TODO, fresh["started_us"])
