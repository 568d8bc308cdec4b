"""Refreshctl's views say the same of one app, for pairs of holds; and a wrong word in one of them is seen."""

import time

import pytest

from agreement import ask, disagreements, headline, table
from daemon import HURRY, REFRESHD, TODO, finished
from pushing import payload, push
from test_truth import following

HOUR = 3600
# Two hours around now.
NOW = "-".join(time.strftime("%H:%M", time.localtime(time.time() + span)) for span in (-HOUR, HOUR))


def soon(seconds):
    return int((time.time() + seconds) * 1e6)


def pause(daemon, seconds=None):
    daemon.call("Manager.Pause", **({} if seconds is None else {"until_us": soon(seconds)}))


def schedule(daemon, seconds):
    daemon.call("Manager.Schedule", app=TODO, earliest_us=soon(seconds), reason="")


def set_interval(daemon, interval):
    daemon.call("Manager.Set", apps=[TODO], background_interval=interval)


def disable(daemon):
    daemon.call("Manager.Disable", apps=[TODO])


def skip(daemon):
    daemon.call("Manager.Skip", apps=[TODO])


def log_out(daemon):
    daemon.tell("logout")


def push_to_an_app_that_was_quit(daemon):
    daemon.tell("terminated")
    push(daemon, payload("42"))


# Each a key of the file, which only another file ends, or a step.
WIFI, QUIET, DISK, ASKED = {"network": "wifi"}, {"quiet": NOW}, {"mounted": "/media/none"}, {"when": ["false"]}
# The holds of the app, and the holds that are said when it is due.
PAIRS = [
    ([pause, QUIET], ["paused", "quiet"]),
    ([lambda daemon: pause(daemon, 3 * HOUR), QUIET], ["paused", "quiet"]),
    ([pause, WIFI], ["paused", "network"]),
    ([pause, lambda daemon: schedule(daemon, 3 * HOUR)], ["paused"]),
    ([WIFI, QUIET], ["quiet", "network"]),
    ([WIFI, DISK], ["network", "mounted"]),
    ([WIFI, ASKED], ["network"]),
    ([DISK, QUIET], ["quiet", "mounted"]),
    ([WIFI, skip], []),
    ([QUIET, push_to_an_app_that_was_quit], ["quiet"]),
    ([WIFI, disable], ["disabled"]),
    ([log_out, disable], ["logged-out", "disabled"]),
]


@pytest.fixture
def held(daemon):
    """Holds an app that was refreshed a moment ago and is due in an hour."""

    def hold(*ways, interval="1h"):
        daemon.configure(f'{HURRY}unknown_conditions = "unmet"\n')
        daemon.app("exit 0", background_interval=interval)
        daemon.start()
        daemon.wait_for_output("1-1 finished")
        keys = {key: value for way in ways if isinstance(way, dict) for key, value in way.items()}
        daemon.app("exit 0", background_interval=interval, **keys)
        daemon.call("Manager.Reload")
        for way in ways:
            if callable(way):
                way(daemon)

    return hold


def views(daemon):
    return ask([REFRESHD.with_name("refreshctl"), "--socket", daemon.socket], TODO)


def agreed(daemon):
    found = views(daemon)
    assert disagreements(found, TODO) == [], found
    return found


def holds_of_the_list(found):
    """The names in the column of the list, without what waits beside them."""
    return table(found["list"])[0].get("HELD BY", "").removeprefix("until ").removeprefix("then ").split(";")[0]


@pytest.mark.parametrize("ways, holds", PAIRS)
def test_all_views_name_the_same_holds_before_while_and_after(daemon, held, ways, holds):
    held(*ways)
    assert set(holds_of_the_list(agreed(daemon)).split(", ")) == set(holds or ["network"])
    watch = daemon.client.stream("Manager.Watch", apps=[TODO])
    set_interval(daemon, "1ms")
    if holds in (["disabled"], ["logged-out", "disabled"]) or skip in ways:
        # These hold it before it is due, or it is not due.
        daemon.settle()
    else:
        assert [hold["name"] for hold in following(watch, "held")["holds"]] == holds
    agreed(daemon)
    set_interval(daemon, "1h")
    daemon.app("exit 0", background_interval="1h")
    daemon.call("Manager.Reload")
    daemon.call("Manager.Resume")
    daemon.call("Manager.Enable", apps=[TODO])
    daemon.tell("login")
    daemon.refresh()
    assert "held" not in headline(agreed(daemon)["why"])


@pytest.mark.parametrize("task, word", [("exit 3", "failed"), ("exit 100", "no data")])
def test_all_views_have_one_word_for_the_end_of_a_refresh(daemon, task, word):
    daemon.app(task, background_interval="1h")
    daemon.start()
    daemon.refresh()
    found = agreed(daemon)
    assert f", {word}" in found["why"] and word in found["history"] and word in found["list"], found


def test_all_views_say_that_disable_stopped_a_refresh(daemon):
    daemon.app("sleep 60")
    daemon.start()
    stream = daemon.run()
    disable(daemon)
    assert finished(stream)["stop_reason"] == "user"
    found = agreed(daemon)
    reason = "stopped: the user disabled the app"
    assert f", {reason}, took" in found["why"] and reason in found["history"] and reason in found["status of the app"]
    assert ": the user disabled the app" in table(found["list"])[0]["LAST"].removeprefix("stopped")
    daemon.wait_for_output(reason)
    assert not [line for line in [*daemon.written(), *found.values()] if "failed" in line]


@pytest.mark.parametrize("change", ["interval", "removal"])
def test_nothing_was_missed_after_a_reload(daemon, held, change):
    """A refresh that a reload makes due is one by its interval, in all views and for the task."""
    held(pause)
    events = daemon.pipe("events")
    if change == "removal":
        daemon.file().unlink()
        daemon.call("Manager.Reload")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", background_interval="1ms" if change == "interval" else "1h")
    daemon.call("Manager.Reload")
    found = [agreed(daemon)]
    set_interval(daemon, "1ms")
    daemon.call("Manager.Resume")
    assert events.line() == "interval"
    set_interval(daemon, "1h")
    daemon.refresh()
    found.append(agreed(daemon))
    assert not [text for views in found for text in views.values() if "missed" in text or "catch-up" in text]


# Words of the views of an app that the pause, and then its quiet hours, hold; each is exchanged for a lie.
LIES = [
    ("why", "the end of its quiet hours", "mains power (on battery)", "holds"),
    ("why", "all apps paused", "nothing paused", "facts"),
    ("why", "last refresh   today", "last refresh   today 00:00:00, failed: exit code 3, took 1 s", "last"),
    ("status of the app", "held: paused, quiet", "held: paused", "holds"),
    ("list", "paused, quiet", "paused, power", "holds"),
    ("list", "new data", "failed  ", "last"),
    ("status", "held: paused, quiet", "held: quiet", "holds"),
    ("status", "paused 1", "power  1", "holds"),
    ("status", "none: ", "", "starts"),
    ("forecast", "held: paused", "held: network", "holds"),
    ("history", "new data", "stopped ", "last"),
]


def test_a_lie_in_any_view_is_seen(daemon, held):
    held(pause, QUIET)
    set_interval(daemon, "1ms")
    while daemon.show()["verdict"] != "held":
        pass
    found = agreed(daemon)
    for view, truth, lie, about in LIES:
        assert truth in found[view], (view, truth, found[view])
        seen = disagreements({**found, view: found[view].replace(truth, lie)}, TODO)
        assert any(sentence.startswith(f"{about}: ") for sentence in seen), (view, lie, seen)


def test_a_lie_about_the_next_start_is_seen(daemon, held):
    held(lambda daemon: pause(daemon, 3 * HOUR))
    found = agreed(daemon)
    clock = time.strftime("%H:%M", time.localtime(time.time() + 3 * HOUR))
    for view in ("why", "status", "forecast"):
        seen = disagreements({**found, view: found[view].replace(clock, "04:44")}, TODO)
        assert any(sentence.startswith("clock: ") for sentence in seen), (view, seen)
    seen = disagreements({**found, "list": found["list"].replace("in 3 h", "due in 1 h")}, TODO)
    assert any(sentence.startswith("starts: ") for sentence in seen), seen
