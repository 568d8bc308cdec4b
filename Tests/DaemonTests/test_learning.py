"""The learnt numbers of apps, and the plans that follow from them, as a client sees them."""

import pytest

from daemon import TODO

HOUR = 3_600_000_000
WEEK = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]


def why(daemon):
    return daemon.call("Manager.Why", app=TODO)["why"]


def seen_a_week(habits):
    """The openings of a week that were seen, as `usage` shows them."""
    return sum(len(kind["weekdays"]) * sum(kind["seen"]) for kind in habits["days"])


@pytest.fixture
def planned(daemon):
    daemon.app("exit 0", background_interval="auto", background_floor="1h", max_stale="8h")
    daemon.start()
    daemon.refresh()
    return daemon


def test_the_plan_lies_between_the_interval_and_max_stale(planned):
    planning = why(planned)["planning"]
    started = planned.show()["last"]["started_us"]
    assert started + HOUR <= planning["planned_us"] <= started + 8 * HOUR + 1
    assert abs(planning["ceiling_us"] - (started + 8 * HOUR)) < 1000
    assert planning["price"] == pytest.approx(planning["machine_price"] * planning["cost"])
    assert planned.show()["due_us"] <= planning["planned_us"]


def test_an_interval_that_is_the_schedule_has_no_plan(daemon):
    daemon.app("exit 0", background_interval="1h")
    daemon.start()
    daemon.refresh()
    assert "planning" not in why(daemon)
    assert "habits" not in daemon.call("Manager.Usage", app=TODO)


def test_openings_are_learnt_kept_and_forgotten(planned):
    for _ in range(3):
        planned.call("App.Signal", app=TODO, signal="foreground")
        planned.call("App.Signal", app=TODO, signal="background")
    planned.refresh()
    used = planned.call("Manager.Usage", app=TODO)["habits"]
    assert sorted(day for kind in used["days"] for day in kind["weekdays"]) == sorted(WEEK)
    assert seen_a_week(used) > 1
    assert all(
        0 <= seen <= expected
        for kind in used["days"]
        for seen, expected in zip(kind["seen"], kind["openings"], strict=True)
    )
    planned.restart()
    assert seen_a_week(planned.call("Manager.Usage", app=TODO)["habits"]) == pytest.approx(seen_a_week(used))
    assert len(planned.call("Manager.Openings", app=TODO)["openings_us"]) == 3
    planned.call("Manager.Forget", apps=[TODO])
    forgotten = planned.call("Manager.Usage", app=TODO)["habits"]
    assert seen_a_week(forgotten) == pytest.approx(0, abs=1e-6)
    assert sum(sum(kind["openings"]) for kind in forgotten["days"]) > 0
    planned.restart()
    assert seen_a_week(planned.call("Manager.Usage", app=TODO)["habits"]) == pytest.approx(0, abs=1e-6)


def test_openings_since_the_last_refresh_outlive_a_stop(planned):
    planned.refresh()
    for _ in range(3):
        planned.call("App.Signal", app=TODO, signal="foreground")
        planned.call("App.Signal", app=TODO, signal="background")
    used = planned.call("Manager.Usage", app=TODO)["habits"]
    planned.restart()
    assert seen_a_week(planned.call("Manager.Usage", app=TODO)["habits"]) == pytest.approx(seen_a_week(used))


def test_a_set_interval_acts_at_once_and_reset_keeps_what_is_learnt(planned):
    planned.call("App.Signal", app=TODO, signal="foreground")
    planned.call("App.Signal", app=TODO, signal="background")
    before = planned.call("Manager.Usage", app=TODO)["habits"]
    planned.call("Manager.Set", apps=[TODO], background_interval="30min")
    app = planned.show()
    assert app["due_us"] == pytest.approx(app["last"]["started_us"] + HOUR / 2, abs=1000)
    assert "planning" not in why(planned)
    planned.call("Manager.Reset", apps=[TODO])
    assert "planning" in why(planned)
    assert seen_a_week(planned.call("Manager.Usage", app=TODO)["habits"]) == pytest.approx(seen_a_week(before))


def test_what_is_pinned_is_taken_as_it_is_written(daemon):
    daemon.app("exit 0", background_interval="auto", background_floor="1h")
    with daemon.file().open("a") as file:
        file.write('[pin]\nopenings = ["12:10"]\nnew_data_per_day = 6.5\ncost = 2\n')
    daemon.start()
    daemon.refresh()
    habits = daemon.call("Manager.Usage", app=TODO)["habits"]
    (kind,) = habits["days"]
    assert kind["weekdays"] == WEEK and kind["seen"] == kind["openings"]
    noon = kind["openings"].index(1.0) / len(kind["openings"]) * 24
    assert sum(kind["openings"]) == 1 and 12 <= noon <= 12 + 10 / 60
    assert (habits["new_data_per_day"], habits["cost"]) == (6.5, 2)
    assert habits["pinned"] == ["openings", "new_data_per_day", "cost"]
    assert why(daemon)["planning"].get("likely_opening_min") in (None, 12 * 60 + 15)


def test_the_plan_outlives_the_daemon(planned):
    before = why(planned)["planning"]["planned_us"]
    planned.restart()
    assert abs(why(planned)["planning"]["planned_us"] - before) < 1_000_000
