"""Reload, Check and SIGHUP: all of a configuration or nothing."""

import signal

import pytest

from client import fails
from daemon import HURRY, MAIL, TODO, finished

BROKEN = 'id = "org.example.mail"\ncolour = "blue"\nbackground_interval = "soon"\ntask = 1\n'


def apps(daemon):
    return [app["id"] for app in daemon.call("Manager.List")["apps"]]


def test_apps_come_change_and_go(daemon):
    """The state of the apps stays: the schedule of a changed app, the running refresh of an unchanged one."""
    daemon.app("exit 100", background_interval="2h")
    daemon.start()
    started = daemon.refresh()["started_us"]
    daemon.app("exit 0", background_interval="3h", name="Better")
    daemon.app("exit 100", id=MAIL)
    daemon.call("Manager.Reload")
    app = daemon.show()
    assert (app["name"], app["due_us"] - started) == ("Better", 3 * 3_600_000_000)
    assert apps(daemon) == [MAIL, TODO]
    assert daemon.refresh()["outcome"] == "new_data"
    daemon.file(MAIL).unlink()
    daemon.call("Manager.Reload")
    assert apps(daemon) == [TODO]
    with fails("org.refreshd.NoSuchApp"):
        daemon.show(MAIL)


def test_a_refresh_goes_on_under_the_configuration_that_it_started_with(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app({"name": "old", "shell": f"echo started > {events}; read _ < {go}; exit 3", "no_data_exit": 3})
    daemon.start()
    stream = daemon.run()
    events.line()
    daemon.app({"name": "new", "shell": "exit 0"}, {"name": "second", "shell": "exit 1"})
    daemon.call("Manager.Reload")
    go.let_go()
    refresh = finished(stream)
    assert [(task["name"], task["outcome"]) for task in refresh["tasks"]] == [("old", "no_data")]
    assert [task["name"] for task in daemon.refresh()["tasks"]] == ["new", "second"]


def test_the_refresh_of_an_app_that_goes_is_stopped(daemon):
    """The caller that waits for its next refresh gets a reply. When the file is back, its history is back."""
    events = daemon.pipe("events")
    daemon.app(f"trap 'echo told > {events}; exit 0' TERM; echo started > {events}; while :; do sleep 0.1; done")
    daemon.start()
    stream = daemon.run()
    assert events.line() == "started"
    queued = daemon.run()
    text = daemon.file().read_text()
    daemon.file().unlink()
    daemon.call("Manager.Reload")
    assert events.line() == "told"
    with fails("org.refreshd.Manager.Held", app=TODO):
        next(queued)
    assert finished(stream)["stop_reason"] == "unconfigured"
    daemon.file().write_text(text)
    daemon.call("Manager.Reload")
    assert [refresh["stop_reason"] for refresh in daemon.history()] == ["unconfigured"]


def test_a_bad_configuration_changes_nothing(daemon):
    """The reply has every mistake of every file, and so has the status until a good configuration is loaded."""
    daemon.app("exit 100", background_interval="2h")
    daemon.start()
    daemon.refresh()
    before = daemon.show()
    daemon.app("exit 100", background_interval="3h")
    daemon.file(MAIL).write_text(BROKEN)
    daemon.configure(HURRY + "speed = 3\n[defaults\n")
    with fails("org.refreshd.Manager.BadConfiguration") as refused:
        daemon.call("Manager.Reload")
    places = {(problem["file"], problem.get("key")) for problem in refused["problems"]}
    assert {(str(daemon.file(MAIL)), key) for key in ["colour", "background_interval", "task"]} <= places
    assert str(daemon.config / "refreshd.toml") in {file for file, _ in places}
    for problem in refused["problems"]:
        assert problem["message"] and problem["remedy"]
        assert problem.get("line", 1) >= 1
    assert daemon.show() == before
    assert daemon.status()["configuration"]["problems"] == refused["problems"]
    daemon.file(MAIL).unlink()
    daemon.configure(HURRY)
    daemon.call("Manager.Reload")
    assert daemon.status()["configuration"]["problems"] == []
    assert daemon.show()["background_interval"]["in_force"] == "3h"


def test_sighup_reloads(daemon):
    """Service managers tell older daemons to reload by SIGHUP. The result is in the journal and in the status."""
    daemon.app("exit 100")
    daemon.start()
    daemon.app("exit 100", id=MAIL)
    daemon.signal(signal.SIGHUP)
    daemon.notices.wait("READY")
    assert apps(daemon) == [MAIL, TODO]
    daemon.file(MAIL).write_text(BROKEN)
    daemon.signal(signal.SIGHUP)
    assert str(daemon.file(MAIL)) in daemon.notices.wait("READY")["STATUS"]
    assert len(daemon.status()["configuration"]["problems"]) == 3
    daemon.wait_for_output("colour")
    assert apps(daemon) == [MAIL, TODO]


def test_check_tells_the_mistakes_and_changes_nothing(daemon):
    daemon.app("exit 100")
    daemon.start()
    assert daemon.call("Manager.Check")["problems"] == []
    daemon.file(MAIL).write_text(BROKEN)
    problems = daemon.call("Manager.Check")["problems"]
    assert {problem["key"] for problem in problems} == {"colour", "background_interval", "task"}
    assert daemon.status()["configuration"]["problems"] == []
    assert apps(daemon) == [TODO]


@pytest.mark.parametrize("phase", ["foreground", "background"])
def test_a_reload_that_changes_nothing_starts_nothing(daemon, phase):
    events = daemon.pipe("events")
    daemon.app(f"echo run > {events}", foreground_interval="1h", background_interval="1h")
    daemon.start()
    events.line()
    daemon.tell(phase)
    daemon.wait_for_output("finished")
    before = daemon.show()
    for _ in range(3):
        daemon.call("Manager.Reload")
    assert daemon.show() == before
    assert events.lines_so_far() == []


def test_an_interval_set_at_run_time_outlives_a_reload(daemon):
    daemon.app("exit 100", background_interval="2h")
    daemon.start()
    daemon.call("Manager.Set", apps=[TODO], background_interval="5h")
    daemon.app("exit 100", background_interval="3h")
    daemon.call("Manager.Reload")
    interval = daemon.show()["background_interval"]
    assert (interval["in_force"], interval["configured"], interval["overridden"]) == ("5h", "3h", True)
