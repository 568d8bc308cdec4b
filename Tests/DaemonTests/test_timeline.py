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


def spans(daemon):
    return daemon.call("Manager.Openings", app=TODO)["spans"]


def test_the_foreground_has_a_beginning_and_an_end_in_the_past(daemon):
    daemon.app("exit 100")
    daemon.start()
    daemon.tell("foreground")
    daemon.restart()
    (open_,) = spans(daemon)
    assert "until_us" not in open_
    daemon.tell("background")
    daemon.tell("foreground")
    daemon.tell("logout")
    newest, oldest = spans(daemon)
    assert oldest["since_us"] == open_["since_us"] <= oldest["until_us"] <= newest["since_us"] <= newest["until_us"]
    assert not newest["is_observed"]


def test_a_lease_that_ends_with_the_daemon_ends_its_time_in_the_foreground(daemon):
    daemon.app("exit 100")
    daemon.start()
    lease = daemon.lease("foreground")
    daemon.restart()
    lease.close()
    (ended,) = spans(daemon)
    assert ended["until_us"] >= ended["since_us"]
