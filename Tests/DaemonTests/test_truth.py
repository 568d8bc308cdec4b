"""The daemon does next as Why, List and Status say."""

import time

import pytest

from agreement import ask, disagreements
from daemon import REFRESHD, TODO
from pushing import payload, push
from waiting import BOUND
from wall import SECOND


def soon(seconds):
    return int((time.time() + seconds) * SECOND)


def pause(daemon, seconds=None):
    daemon.call("Manager.Pause", **({} if seconds is None else {"until_us": soon(seconds)}))


def schedule(daemon, seconds):
    daemon.call("Manager.Schedule", app=TODO, earliest_us=soon(seconds), reason="")


def set_interval(daemon, interval):
    daemon.call("Manager.Set", apps=[TODO], background_interval=interval)


def disable(daemon):
    daemon.call("Manager.Disable", apps=[TODO])


# Ways to hold an app that is due in 2 s: what is done, the holds that are said, and whether time alone ends them.
WAYS = {
    "nothing": ([], [], True),
    "a one-shot": ([lambda daemon: schedule(daemon, 1)], [], True),
    "a pause": ([pause], ["paused"], False),
    "a pause with an end": ([lambda daemon: pause(daemon, 4)], ["paused"], True),
    "a pause that ends before it is due": ([lambda daemon: pause(daemon, 1)], [], True),
    "a pause, and a one-shot that passes it": ([pause, lambda daemon: schedule(daemon, 4)], ["paused"], True),
    "no interval": ([lambda daemon: set_interval(daemon, "never")], ["never"], False),
    "no interval, and a one-shot": (
        [lambda daemon: set_interval(daemon, "never"), lambda daemon: schedule(daemon, 2)], [], True,
    ),
    "disabled": ([disable], ["disabled"], False),
    "disabled and paused": ([disable, lambda daemon: pause(daemon, 2)], ["disabled"], False),
    "logged out": ([lambda daemon: daemon.tell("logout")], ["logged-out"], False),
}


@pytest.fixture
def starts(daemon):
    """The triggers of an app that has been refreshed once and is due 2 s later."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", background_interval="2s")
    daemon.start()
    assert events.line() == "interval"
    daemon.wait_for_output("1-1 finished")
    return events


def agree(daemon):
    views = ask([REFRESHD.with_name("refreshctl"), "--socket", daemon.socket], TODO)
    assert disagreements(views, TODO) == [], views


def following(watch, kind):
    """The next event of a kind."""
    while (event := next(watch)["event"])["kind"] != kind:
        pass
    return event


@pytest.mark.parametrize("way", WAYS)
def test_the_next_start_is_the_one_that_was_said(daemon, starts, way):
    steps, holds, ends = WAYS[way]
    watch = daemon.client.stream("Manager.Watch", apps=[TODO])
    for step in steps:
        step(daemon)
    said = daemon.call("Manager.Why", app=TODO)["why"]["next"]
    assert ([hold["name"] for hold in said["holds"]], "start" in said) == (holds, ends)
    (row,) = daemon.call("Manager.List")["apps"]
    assert row["next"] == said
    if "due" in said and holds in ([], ["paused"]):
        first = daemon.status()["next"]
        assert (first.get("start_us"), first.get("holds", [])) == (said.get("start", {}).get("earliest_us"), holds)
    agree(daemon)
    if holds == ["paused"]:
        held = following(watch, "held")
        assert [hold["name"] for hold in held["holds"]] == holds
        late = BOUND * SECOND
        assert said["due"]["earliest_us"] - SECOND // 10 <= held["at_us"] <= said["due"]["latest_us"] + late
    if not ends:
        assert starts.lines_so_far() == []
        daemon.call("Manager.Resume")
        daemon.call("Manager.Enable", apps=[TODO])
        daemon.tell("login")
        set_interval(daemon, "1ms")
        assert starts.line()
        return
    assert starts.line() == said["trigger"]
    begun = following(watch, "started")["at_us"]
    assert said["start"]["earliest_us"] - SECOND // 10 <= begun <= said["start"]["latest_us"] + BOUND * SECOND


def test_quiet_hours_end_when_it_was_said(daemon, wall):
    """The wall clock is set to the end, with the share of it that keeps apps from starting all at once."""
    begun = daemon.pipe("events")
    begin, end = (time.strftime("%H:%M", time.localtime(time.time() + span)) for span in (-7200, 7200))
    daemon.app(f"echo started > {begun}", background_interval="1h", quiet=f"{begin}-{end}")
    daemon.start(environment=wall.environment)
    said = daemon.call("Manager.Why", app=TODO)["why"]["next"]
    assert [hold["name"] for hold in said["holds"]] == ["quiet"]
    assert said["start"]["earliest_us"] == said["start"]["latest_us"] == said["holds"][0]["until_us"]
    agree(daemon)
    wall.set_to(said["start"]["earliest_us"] / SECOND - 60)
    assert daemon.show()["holds"][0]["name"] == "quiet" and begun.lines_so_far() == []
    wall.set_to(said["start"]["earliest_us"] / SECOND + 1)
    daemon.status()
    assert begun.line() == "started"


def test_a_push_for_an_app_that_the_user_has_quit_is_said_to_wait(daemon, starts):
    set_interval(daemon, "1h")
    daemon.tell("terminated")
    push(daemon, payload("42"))
    (row,) = daemon.call("Manager.List")["apps"]
    assert (row["push_wait"], row["next"]["trigger"]) == ("terminated", "interval")
    assert daemon.status()["pushes_waiting"] == 1
    agree(daemon)
    daemon.tell("launched")
    assert starts.line() == "push"
    assert "push_wait" not in daemon.call("Manager.List")["apps"][0]
    assert "pushes_waiting" not in daemon.status()
