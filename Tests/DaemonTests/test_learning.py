"""The learnt numbers of apps, and the plans that follow from them, as a client sees them."""

import pytest

from daemon import TODO

HOUR = 3_600_000_000


def why(daemon):
    return daemon.call("Manager.Why", app=TODO)["why"]


@pytest.fixture
def planned(daemon):
    daemon.app("exit 0", adaptive=True, background_interval="1h", max_stale="8h")
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
    daemon.app("exit 0", adaptive=False, background_interval="1h")
    daemon.start()
    daemon.refresh()
    assert "planning" not in why(daemon)
    assert daemon.call("Manager.Usage", app=TODO) == {}


def test_openings_are_learnt_kept_and_forgotten(planned):
    for _ in range(3):
        planned.call("App.Signal", app=TODO, signal="foreground")
        planned.call("App.Signal", app=TODO, signal="background")
    planned.refresh()
    used = planned.call("Manager.Usage", app=TODO)["habits"]
    assert len(used["week"]) == len(used["weekend"]) == 48
    assert sum(used["week"]) + sum(used["weekend"]) > 4
    planned.restart()
    assert planned.call("Manager.Usage", app=TODO)["habits"]["week"] == pytest.approx(used["week"])
    assert len(planned.call("Manager.Openings", app=TODO)["openings_us"]) == 3
    planned.call("Manager.Forget", apps=[TODO])
    forgotten = planned.call("Manager.Usage", app=TODO)["habits"]
    assert sum(forgotten["week"]) + sum(forgotten["weekend"]) < 2
    planned.restart()
    assert planned.call("Manager.Usage", app=TODO)["habits"]["week"] == pytest.approx(forgotten["week"])


def test_openings_since_the_last_refresh_outlive_a_stop(planned):
    planned.refresh()
    for _ in range(3):
        planned.call("App.Signal", app=TODO, signal="foreground")
        planned.call("App.Signal", app=TODO, signal="background")
    used = planned.call("Manager.Usage", app=TODO)["habits"]
    planned.restart()
    assert planned.call("Manager.Usage", app=TODO)["habits"]["week"] == pytest.approx(used["week"])


def test_reset_forgets_too(planned):
    planned.call("App.Signal", app=TODO, signal="foreground")
    planned.call("App.Signal", app=TODO, signal="background")
    before = planned.call("Manager.Usage", app=TODO)["habits"]
    planned.call("Manager.Reset", apps=[TODO])
    assert sum(planned.call("Manager.Usage", app=TODO)["habits"]["week"]) < sum(before["week"])


def test_what_is_pinned_is_taken_as_it_is_written(daemon):
    daemon.app("exit 0", adaptive=True, background_interval="1h")
    with daemon.file().open("a") as file:
        file.write('[pin]\nopenings = ["12:10"]\nnew_data_per_day = 6.5\ncost = 2\n')
    daemon.start()
    daemon.refresh()
    habits = daemon.call("Manager.Usage", app=TODO)["habits"]
    assert habits["week"] == habits["weekend"] == [1.0 if half == 24 else 0.0 for half in range(48)]
    assert (habits["new_data_per_day"], habits["cost"]) == (6.5, 2)
    assert habits["pinned"] == ["openings", "new_data_per_day", "cost"]
    assert why(daemon)["planning"].get("likely_opening_min") in (None, 720)


def test_the_plan_outlives_the_daemon(planned):
    before = why(planned)["planning"]["planned_us"]
    planned.restart()
    assert abs(why(planned)["planning"]["planned_us"] - before) < 1_000_000
