"""The first line of `refreshctl why`, word by word: before an app is due, while it is held, afterwards, after a restart."""

import re
import subprocess
import time

import pytest

from daemon import REFRESHD, TODO
from pushing import payload, push

SECOND = 1_000_000
TODO_IS = f"todo ({TODO}) is in the background. "


def why(daemon):
    """The text on one line, its times as TIME and its spans as SPAN."""
    command = [REFRESHD.with_name("refreshctl"), "why", TODO, "--socket", daemon.socket]
    text = " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())
    text = re.sub(r"(today|tomorrow|yesterday) \d\d:\d\d(:\d\d)?", "TIME", text)
    return re.sub(r"\b\d+ (s|min|h)( \d+ (s|min|h))?(?=[ );,.])", "SPAN", text)


def headline(daemon):
    return re.split(" (?:last refresh|data age) ", why(daemon))[0]


@pytest.fixture
def starts(daemon):
    """The triggers of an app that has been refreshed once."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", background_interval="1h")
    daemon.start()
    assert events.line() == "interval"
    daemon.wait_for_output("1-1 finished")
    return events


def set_interval(daemon, interval):
    daemon.call("Manager.Set", apps=[TODO], background_interval=interval)


def test_what_is_not_held(daemon, starts):
    assert headline(daemon) == TODO_IS + (
        "It will be refreshed between TIME and TIME (in SPAN), because its background interval is 1h.")  # fmt: skip


def test_a_pause(daemon, starts):
    daemon.call("Manager.Pause")
    before = TODO_IS + "Due in SPAN (TIME); then it waits: all apps are paused (`refreshctl resume`)."
    held = TODO_IS + "It is due since TIME but waits: all apps are paused (`refreshctl resume`)."
    assert headline(daemon) == before
    daemon.restart()
    assert headline(daemon) == before
    watch = daemon.client.stream("Manager.Watch", apps=[TODO])
    set_interval(daemon, "1s")
    while next(watch)["event"]["kind"] != "held":
        pass
    assert headline(daemon) == held
    daemon.restart()
    assert headline(daemon) == held
    daemon.call("Manager.Resume")
    starts.line()
    set_interval(daemon, "1h")
    daemon.wait_for_output("finished", times=2)
    assert "held: paused" in why(daemon)
    daemon.restart()
    assert "because its background interval is 1h." in headline(daemon)
    assert "held: paused" in why(daemon)


def test_a_pause_with_an_end(daemon, starts):
    daemon.call("Manager.Pause", until_us=int((time.time() + 7300) * SECOND))
    waits = "then it waits: all apps are paused (until TIME, in SPAN, or `refreshctl resume`)."
    assert headline(daemon) == TODO_IS + f"Due in SPAN (TIME); {waits}"


def test_a_skipped_refresh(daemon, starts):
    daemon.call("Manager.Skip", apps=[TODO])
    said = "It will be refreshed between TIME and TIME (in SPAN), because the refresh before it is skipped."
    assert headline(daemon) == TODO_IS + said
    daemon.restart()
    assert headline(daemon) == TODO_IS + said


def test_an_app_that_the_user_has_quit(daemon, starts):
    """The schedule goes on; the push waits."""
    daemon.tell("terminated")
    push(daemon, payload("42"))
    said = (
        "It will be refreshed between TIME and TIME (in SPAN), because its background interval is 1h. "
        f"A push waits: the user has quit the app; start it, or run `refreshctl launched {TODO}`."
    )
    assert headline(daemon) == TODO_IS + said
    daemon.restart()
    assert headline(daemon) == TODO_IS + said


def test_a_push_that_its_limit_holds_back(daemon):
    """The limit opens at the very moment that the interval ends."""
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", background_interval="1h", push_burst=1, push_per_hour=1)
    daemon.start()
    assert events.line() == "interval"
    push(daemon, payload("1"))
    assert events.line() == "push"
    daemon.wait_for_output("1-2 finished")
    push(daemon, payload("2"))
    assert headline(daemon) == TODO_IS + (
        "It will be refreshed in SPAN (TIME), when its limit lets the next push through: 1 push in the last SPAN.")


def test_a_switch(daemon, starts):
    set_interval(daemon, "never")
    never = "It is not refreshed by time, because its background interval is never; "
    assert headline(daemon) == TODO_IS + never + f"`refreshctl run {TODO}` refreshes it now."
    daemon.call("Manager.Disable", apps=[TODO])
    disabled = f"It is disabled: not refreshed until `refreshctl enable {TODO}`."
    assert headline(daemon) == TODO_IS + disabled
    daemon.restart()
    assert headline(daemon) == TODO_IS + disabled


def test_an_app_that_nothing_performs(daemon):
    daemon.app(background_interval="1h")
    daemon.start()
    waits = "waits for the app: no process is attached, and its file has no task."
    assert headline(daemon) == TODO_IS + f"It is due since TIME but {waits}"
