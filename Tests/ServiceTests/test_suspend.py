"""Suspend with the real daemon, from logind's signals to the refreshes that were missed."""

import pathlib
import subprocess
import time

from service import app
from test_conditions_logind import MANAGER
from waiting import Bound

SETTLE = 4
APPS = [f"org.example.{name}" for name in ("first", "second", "third")]


def test_after_a_suspend_the_machine_settles_and_what_was_missed_is_spread_the_stalest_first(
    sleepless, probe, refreshd, journal
):
    # Long enough that the pause does not stop a refresh: that would be a retry, and no catch-up.
    refreshd.configure(*[app("exit 0", id=id, background_interval="5s") for id in APPS])
    pathlib.Path("/etc/refreshd/refreshd.toml").write_text(
        f'foreground_floor = "1ms"\nbackground_floor = "1ms"\nsettle = "{SETTLE}s"\n'
    )
    refreshd.start()
    for id in APPS:
        journal.wait("refreshFinished", REFRESH_APP=id)
    refreshd.refreshctl("pause")
    bound = Bound()
    # The app is due and paused, as a suspended app would be.
    while any([hold["name"] for hold in refreshd.app(id)["holds"]] != ["paused"] for id in APPS):
        assert bound.left, "the apps are not due"
    last = {id: refreshd.history(id)[0]["started_us"] for id in APPS}

    seen = probe("nothing")
    seen.wait("started")
    subprocess.run(["busctl", "call", *MANAGER, "Suspend", "b", "false"], check=True, timeout=60)
    seen.wait_line(event="sleep", value=False, seconds=20)
    awake = time.time() * 1e6
    refreshd.refreshctl("resume")
    # The daemon may hear of the end of the sleep after the probe; until then it starts nothing.
    bound = Bound()
    while any(refreshd.app(id).get("due_us", 0) < awake + (SETTLE - 1) * 1e6 for id in APPS):
        assert bound.left, [refreshd.app(id) for id in APPS]

    for id in APPS:
        journal.wait("refreshFinished", REFRESH_APP=id, REFRESH_TRIGGER="catch-up")
    caught_up = {}
    for id in APPS:
        [caught_up[id]] = [
            refresh["started_us"] for refresh in refreshd.history(id) if refresh["trigger"] == "catch_up"
        ]
    assert min(caught_up.values()) >= awake + (SETTLE - 1) * 1e6
    assert sorted(APPS, key=caught_up.get) == sorted(APPS, key=last.get)
    times = sorted(caught_up.values())
    assert all(later - earlier >= 0.8e6 for earlier, later in zip(times, times[1:]))
