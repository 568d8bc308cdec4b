"""Set and Reset: other intervals at run time."""

import pytest

from client import fails
from daemon import MAIL, TODO

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE


def intervals(daemon, app=TODO):
    app = daemon.show(app)
    return app["foreground_interval"]["in_force"], app["background_interval"]["in_force"]


def test_defaults(daemon):
    """5 min in the foreground, 24 h in the background."""
    daemon.configure("")
    daemon.file().write_text(f'id = "{TODO}"\n[[task]]\nshell = "exit 100"\n')
    daemon.start()
    assert intervals(daemon) == ("5min", "auto")


def test_set_and_reset_of_many_apps(daemon):
    """The replies are in the order of the call; an interval that is not named stays."""
    daemon.app("exit 100", foreground_interval="1min", background_interval="1h")
    daemon.app("exit 100", id=MAIL, foreground_interval="2min", background_interval="never")
    daemon.start()
    answer = daemon.call("Manager.Set", apps=[TODO, MAIL], background_interval="6h")["apps"]
    assert [app["app"] for app in answer] == [TODO, MAIL]
    assert [app["background"]["in_force_us"] for app in answer] == [6 * HOUR] * 2
    assert [app["background"]["configured"] for app in answer] == ["1h", "never"]
    assert [app["foreground"]["overridden"] for app in answer] == [False, False]
    daemon.call("Manager.Set", apps=[MAIL], foreground_interval="minimum")
    assert (intervals(daemon), intervals(daemon, MAIL)) == (("1min", "6h"), ("minimum", "6h"))
    answer = daemon.call("Manager.Reset", apps=[MAIL])["apps"]
    assert [(app["app"], app["background"]) for app in answer] == [
        (MAIL, {"in_force": "never", "configured": "never", "overridden": False})
    ]
    assert (intervals(daemon), intervals(daemon, MAIL)) == (("1min", "6h"), ("2min", "never"))


def test_another_interval_keeps_the_schedule(daemon):
    """The next refresh is due one new interval after the last start."""
    daemon.app("exit 100", foreground_interval="1h")
    daemon.start()
    started = daemon.refresh()["started_us"]
    for text, microseconds in [("2h", 2 * HOUR), ("30min", 30 * MINUTE), ("1h 30min", 90 * MINUTE)]:
        daemon.call("Manager.Set", apps=[TODO], background_interval=text)
        assert daemon.show()["due_us"] - started == microseconds
    daemon.call("Manager.Set", apps=[TODO], background_interval="never")
    assert [hold["name"] for hold in daemon.show()["holds"]] == ["never"]
    assert len(daemon.history()) == 1


def test_a_shorter_interval_that_has_passed_starts_at_once(daemon):
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}")
    daemon.start()
    daemon.refresh()
    assert events.line() == "manual"
    daemon.call("Manager.Set", apps=[TODO], background_interval="1ms")
    assert events.line() == "interval"


# The bounds, the keyword, the text, and the values that the error names.
REFUSED = [
    ("", "background_interval", "14min", "15min"),
    ("", "foreground_interval", "4s", "5s"),
    ('background_floor = "2h"', "background_interval", "1h", "2h"),
    ("", "background_interval", "soon", "auto"),
    ("", "background_interval", "", "auto"),
    ("", "background_interval", "-1h", "auto"),
    ("", "foreground_interval", "1 fortnight", "minimum"),
]


@pytest.mark.parametrize("limits, name, text, right", REFUSED)
def test_what_is_no_interval_or_out_of_bounds_is_refused(daemon, limits, name, text, right):
    """The error names valid values; no app is changed."""
    daemon.configure(limits + '\n[defaults]\nforeground_interval = "1h"\n')
    daemon.file().write_text(f'id = "{TODO}"\n[[task]]\nshell = "exit 100"\n')
    daemon.start()
    before = intervals(daemon)
    with fails("org.refreshd.Manager.InvalidInterval", text=text) as refused:
        daemon.call("Manager.Set", apps=[TODO], **{name: text})
    assert right in refused["problem"] and refused["problem"].startswith("cannot ")
    assert intervals(daemon) == before


def test_auto_keeps_the_floor_of_the_file(daemon):
    daemon.app("exit 100", background_interval="auto", background_floor="1h")
    daemon.start()
    daemon.call("Manager.Set", apps=[TODO], background_interval="auto")
    assert daemon.show()["background_interval"] == {
        "in_force": "auto", "in_force_us": 60 * MINUTE, "configured": "auto", "overridden": True,
    }


def test_a_person_has_the_habits_of_an_app_with_a_fixed_interval_learnt(daemon):
    daemon.app("exit 0", background_interval="1h")
    daemon.start()
    daemon.refresh()
    assert "habits" not in daemon.call("Manager.Usage", app=TODO)
    daemon.call("Manager.Set", apps=[TODO], background_interval="auto")
    daemon.refresh()
    assert "habits" in daemon.call("Manager.Usage", app=TODO)


def test_minimum_and_auto_have_the_floor(daemon):
    daemon.configure('background_floor = "20min"\nforeground_floor = "7s"\n')
    daemon.app("exit 100", foreground_interval="minimum", background_interval="auto")
    daemon.start()
    app = daemon.show()
    assert (app["foreground_interval"]["in_force"], app["background_interval"]["in_force"]) == ("minimum", "auto")
    assert app["foreground_interval"]["in_force_us"] == 7 * SECOND
    assert app["background_interval"]["in_force_us"] == 20 * MINUTE


@pytest.mark.parametrize("method", ["Set", "Reset"])
def test_all_apps_or_none(daemon, method):
    daemon.app("exit 100", background_interval="2h")
    daemon.start()
    daemon.call("Manager.Set", apps=[TODO], background_interval="3h")
    with fails("org.refreshd.NoSuchApp", app="org.example.none"):
        daemon.call(f"Manager.{method}", apps=[TODO, "org.example.none"])
    assert intervals(daemon)[1] == "3h"
    with fails("org.varlink.service.InvalidParameter", parameter="apps"):
        daemon.call(f"Manager.{method}", apps=[])
