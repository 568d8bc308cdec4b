"""Why: every term of the verdict, and the history."""

import time

from client import fails
from daemon import MAIL, TODO
from pushing import why

HOUR = 3_600_000_000


def test_the_explanation_is_the_verdict(daemon):
    daemon.app("exit 100", background_interval="1h", name="To do")
    daemon.start()
    refresh = daemon.refresh()
    explanation = why(daemon)
    shown = daemon.show()
    for key in ("id", "name", "phase", "verdict", "holds", "fresh_us"):
        assert explanation[key] == shown[key]
    assert explanation["trigger"] == "interval"
    assert explanation["floor_us"] == refresh["started_us"] + HOUR
    assert explanation["window"]["earliest_us"] == shown["due_us"] <= explanation["window"]["latest_us"]
    assert explanation["interval"]["in_force"] == "1h"
    assert (explanation["failures"], explanation["strikes"], explanation["is_disabled"]) == (0, 0, False)


def test_the_past_is_newest_first_and_bounded(daemon):
    daemon.app("exit 100")
    daemon.start()
    refreshes = [daemon.refresh() for _ in range(25)]
    assert [entry["refresh"] for entry in why(daemon)["past"]] == refreshes[:-21:-1]


def test_a_constraint_is_told_with_what_it_needs(daemon):
    daemon.app("exit 100", background_interval="1h", network="unmetered", power="ac", quiet="22:00-07:00")
    daemon.start()
    explanation = why(daemon)
    assert [(term["constraint"], term["needs"]) for term in explanation["terms"]] == [
        ("network", "unmetered"), ("power", "ac"),
    ]
    east = int(time.localtime().tm_gmtoff) // 60
    assert explanation["quiet"] == {"from_min": 22 * 60, "to_min": 7 * 60, "east_min": east}
    assert set(explanation["conditions"]) == {"network", "power", "power_saver", "idle", "pressure"}


def test_long_work_is_told_with_what_it_needs(daemon):
    daemon.app("exit 100", background_interval="1h", kind="processing")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    explanation = why(daemon)
    assert explanation["is_processing"] is True
    terms = {term["constraint"]: (term["needs"], "relaxed_us" in term) for term in explanation["terms"]}
    assert terms == {"power": ("ac", False), "idle": ("an idle user", False)}
    assert daemon.show()["deadline_us"] == HOUR // 6
    assert why(daemon, MAIL)["is_processing"] is False


def test_a_wait_is_told_while_it_lasts_and_afterwards(daemon):
    """A new app is due at once, and a pause holds it."""
    events = daemon.pipe("events")
    daemon.start()
    daemon.call("Manager.Pause")
    daemon.app(f"echo started > {events}", background_interval="1h")
    daemon.call("Manager.Reload")
    explanation = why(daemon)
    assert explanation["waiting"]["holds"] == ["paused"]
    assert [hold["name"] for hold in explanation["holds"]] == ["paused"]
    daemon.call("Manager.Resume")
    events.line()
    daemon.settle()
    (wait,) = [entry["wait"] for entry in why(daemon)["past"] if "wait" in entry]
    assert wait["holds"] == ["paused"]
    assert explanation["waiting"]["since_us"] == wait["since_us"] < wait["until_us"]
    assert "waiting" not in why(daemon)


def test_an_unknown_app_is_not_explained(daemon):
    daemon.start()
    with fails("org.refreshd.NoSuchApp", app=MAIL):
        why(daemon, MAIL)
