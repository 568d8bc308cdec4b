"""The daemon does next as Why, List and Status say."""

import math
import os
import time

import pytest

from agreement import ask, disagreements
from daemon import REFRESHD, TODO
from days import Days
from preload import preload  # noqa: F401, a fixture
from pushing import payload, push
from waiting import BOUND
from wall import SECOND

MINUTE = 60 * SECOND


def pause(days, minutes=None):
    days.daemon.call("Manager.Pause", **({} if minutes is None else {"until_us": days.now + minutes * MINUTE}))


def schedule(days, minutes):
    days.daemon.call("Manager.Schedule", app=TODO, earliest_us=days.now + minutes * MINUTE, reason="")


def set_interval(days, interval):
    days.daemon.call("Manager.Set", apps=[TODO], background_interval=interval)


def disable(days):
    days.daemon.call("Manager.Disable", apps=[TODO])


# Ways to hold an app that is due in 20 min: what is done, the holds that are said, and whether time alone ends them.
WAYS = {
    "nothing": ([], [], True),
    "a one-shot": ([lambda days: schedule(days, 10)], [], True),
    "a pause": ([pause], ["paused"], False),
    "a pause with an end": ([lambda days: pause(days, 40)], ["paused"], True),
    "a pause that ends before it is due": ([lambda days: pause(days, 10)], [], True),
    "a pause, and a one-shot that passes it": ([pause, lambda days: schedule(days, 40)], ["paused"], True),
    "no interval": ([lambda days: set_interval(days, "never")], ["never"], False),
    "no interval, and a one-shot": (
        [lambda days: set_interval(days, "never"), lambda days: schedule(days, 20)], [], True,
    ),
    "disabled": ([disable], ["disabled"], False),
    "disabled and paused": ([disable, lambda days: pause(days, 20)], ["disabled"], False),
    "logged out": ([lambda days: days.daemon.tell("logout")], ["logged-out"], False),
}


@pytest.fixture
def days(daemon, preload):  # noqa: F811
    return Days(daemon, preload("ahead"))


@pytest.fixture
def starts(daemon, days):
    """The triggers of an app that has been refreshed once and is due 20 min later."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", background_interval="20min")
    daemon.start(environment=days.environment)
    assert events.line() == "interval"
    daemon.wait_for_output("1-1 finished")
    return events


def agree(daemon, environment):
    command = [REFRESHD.with_name("refreshctl"), "--socket", daemon.socket]
    views = ask(command, TODO, environment={**os.environ, **environment})
    assert disagreements(views, TODO) == [], views


def following(watch, kind):
    """The next event of a kind."""
    while (event := next(watch)["event"])["kind"] != kind:
        pass
    return event


def go_to(days, window):
    """Lets the time pass to the begin of a window; a call makes the daemon look at its clock."""
    days.go(math.ceil((window["earliest_us"] - days.now) / SECOND))
    days.daemon.status()


def is_within(at, window):
    """Whether it came in a window; later by what a busy machine needs, and by the second to which `go_to` is exact."""
    return window["earliest_us"] - SECOND // 10 <= at <= window["latest_us"] + (BOUND + 1) * SECOND


@pytest.mark.parametrize("way", WAYS)
def test_the_next_start_is_the_one_that_was_said(daemon, days, starts, way):
    steps, holds, ends = WAYS[way]
    watch = daemon.client.stream("Manager.Watch", apps=[TODO])
    for step in steps:
        step(days)
    said = daemon.call("Manager.Why", app=TODO)["why"]["next"]
    assert ([hold["name"] for hold in said["holds"]], "start" in said) == (holds, ends)
    (row,) = daemon.call("Manager.List")["apps"]
    assert row["next"] == said
    if "due" in said and holds in ([], ["paused"]):
        first = daemon.status()["next"]
        assert (first.get("start_us"), first.get("holds", [])) == (said.get("start", {}).get("earliest_us"), holds)
    agree(daemon, days.environment)
    assert starts.lines_so_far() == []
    if holds == ["paused"]:
        go_to(days, said["due"])
        held = following(watch, "held")
        assert [hold["name"] for hold in held["holds"]] == holds
        assert is_within(held["at_us"], said["due"])
    if not ends:
        days.go(3600)
        daemon.status()
        assert starts.lines_so_far() == []
        daemon.call("Manager.Resume")
        daemon.call("Manager.Enable", apps=[TODO])
        daemon.tell("login")
        set_interval(days, "1ms")
        assert starts.line()
        return
    go_to(days, said["start"])
    assert starts.line() == said["trigger"]
    assert is_within(following(watch, "started")["at_us"], said["start"])


def test_quiet_hours_end_when_it_was_said(daemon, wall):
    """The wall clock is set to the end, with the share of it that keeps apps from starting all at once."""
    begun = daemon.pipe("events")
    begin, end = (time.strftime("%H:%M", time.localtime(time.time() + span)) for span in (-7200, 7200))
    daemon.app(f"echo started > {begun}", background_interval="1h", quiet=f"{begin}-{end}")
    daemon.start(environment=wall.environment)
    said = daemon.call("Manager.Why", app=TODO)["why"]["next"]
    assert [hold["name"] for hold in said["holds"]] == ["quiet"]
    assert said["start"]["earliest_us"] == said["start"]["latest_us"] == said["holds"][0]["until_us"]
    agree(daemon, wall.environment)
    wall.set_to(said["start"]["earliest_us"] / SECOND - 60)
    assert daemon.show()["holds"][0]["name"] == "quiet" and begun.lines_so_far() == []
    wall.set_to(said["start"]["earliest_us"] / SECOND + 1)
    # The daemon is idle: only the kernel says that the clock was set.
    assert begun.line() == "started"


def test_a_push_for_an_app_that_the_user_has_quit_is_said_to_wait(daemon, days, starts):
    set_interval(days, "1h")
    daemon.tell("terminated")
    push(daemon, payload("42"))
    (row,) = daemon.call("Manager.List")["apps"]
    assert (row["push_wait"], row["next"]["trigger"]) == ("terminated", "interval")
    assert daemon.status()["pushes_waiting"] == 1
    agree(daemon, days.environment)
    daemon.tell("launched")
    assert starts.line() == "push"
    assert "push_wait" not in daemon.call("Manager.List")["apps"][0]
    assert "pushes_waiting" not in daemon.status()
