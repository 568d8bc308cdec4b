"""Timeline: the history of an app since a moment."""

import os
import pwd

import pytest

from client import as_user, fails
from daemon import MAIL, TODO

NOBODY = pwd.getpwnam("nobody").pw_uid


def timeline(daemon, since=0, app=TODO):
    return daemon.call("Manager.Timeline", app=app, since_us=since)


def test_every_refresh_since_then_is_told_the_newest_first(daemon):
    daemon.app("exit 100")
    daemon.start()
    refreshes = [daemon.refresh() for _ in range(30)]
    assert [entry["refresh"] for entry in timeline(daemon)["past"]] == refreshes[::-1]
    since = refreshes[20]["started_us"] + refreshes[20]["duration_us"]
    assert [entry["refresh"] for entry in timeline(daemon, since)["past"]] == refreshes[:19:-1]
    assert timeline(daemon, since + 3_600_000_000) == {"past": []}


def test_the_timeline_has_what_runs_and_what_waits(daemon):
    gate = daemon.pipe("gate")
    daemon.app(f"cat {gate}", background_interval="1h")
    daemon.start()
    daemon.wait_for_output("started (interval)")
    daemon.call("Manager.Pause")
    daemon.app("exit 100", id=MAIL, background_interval="1h")
    daemon.call("Manager.Reload")
    running = timeline(daemon)
    assert (running["running"]["trigger"], running["past"]) == ("interval", [])
    waiting = timeline(daemon, app=MAIL)
    assert waiting["waiting"] == daemon.call("Manager.Why", app=MAIL)["why"]["waiting"]
    assert waiting["waiting"]["holds"] == ["paused"]


def test_a_wait_that_has_ended_is_part_of_the_past(daemon):
    events = daemon.pipe("events")
    daemon.start()
    daemon.call("Manager.Pause")
    daemon.app(f"echo started > {events}", background_interval="1h")
    daemon.call("Manager.Reload")
    daemon.call("Manager.Resume")
    events.line()
    daemon.settle()
    (wait,) = [entry["wait"] for entry in timeline(daemon)["past"] if "wait" in entry]
    assert wait["holds"] == ["paused"]


def test_the_past_outlives_the_daemon(daemon):
    daemon.app("exit 100")
    daemon.start()
    refresh = daemon.refresh()
    daemon.restart()
    assert timeline(daemon)["past"] == [{"refresh": refresh}]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_the_timeline_is_for_who_may_ask_about_the_app(daemon):
    daemon.app("exit 100")
    daemon.start()
    with fails("org.refreshd.NoSuchApp", app=MAIL):
        timeline(daemon, app=MAIL)
    with as_user(NOBODY), fails("org.refreshd.NotAllowed", app=TODO):
        timeline(daemon)
