"""Syncs that an app made by itself."""

import pytest

from client import fails
from daemon import MAIL, TODO
from test_pushing import refreshctl

HOUR = 3_600_000_000


def test_a_sync_counts_as_a_refresh(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    refresh = daemon.refresh()
    daemon.call("App.Synced", app=TODO, new_data=True)
    shown = daemon.show()
    synced, earlier = daemon.history()[:2]
    assert earlier == refresh
    assert (synced["trigger"], synced["outcome"], synced["duration_us"], synced["tasks"]) == ("reported", "new_data", 0, [])
    assert shown["last"] == synced and shown["fresh_us"] == synced["started_us"] > refresh["started_us"]
    assert shown["due_us"] == synced["started_us"] + HOUR
    daemon.wait_for_output("it has synced by itself: new data")


def measured(daemon):
    """How many refreshes the histogram of durations has."""
    lines = daemon.call("Manager.Metrics")["text"].splitlines()
    [count] = [line.split()[1] for line in lines if line.startswith("refreshd_refresh_duration_seconds_count")]
    return int(count)


def test_a_sync_is_no_opening_and_costs_nothing(daemon):
    daemon.app("exit 100", background_interval="auto", background_floor="1h")
    daemon.start()
    daemon.refresh()
    daemon.settle()
    before = daemon.call("Manager.Usage", app=TODO)["habits"]
    ran = measured(daemon)
    for _ in range(3):
        daemon.call("App.Synced", app=TODO)
    after = daemon.call("Manager.Usage", app=TODO)["habits"]
    assert after["cost"] == before["cost"] and after["days"] == before["days"]
    assert daemon.call("Manager.Openings", app=TODO)["openings_us"] == []
    assert measured(daemon) == ran
    assert 'trigger="reported"} 3' in daemon.call("Manager.Metrics")["text"]


def test_a_sync_survives_a_restart(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    daemon.refresh()
    daemon.call("App.Synced", app=TODO)
    before = daemon.show()
    daemon.restart()
    daemon.settle()
    after = daemon.show()
    assert after["last"] == before["last"] and abs(after["due_us"] - before["due_us"]) < 1000


def test_a_refresh_that_runs_goes_on(daemon):
    go = daemon.pipe("go")
    daemon.app(f"read _ < {go}")
    daemon.start()
    stream = daemon.run()
    daemon.call("App.Synced", app=TODO)
    fresh = daemon.show()["fresh_us"]
    go.let_go()
    ended = [answer["event"] for answer in stream][-1]["refresh"]
    assert ended["outcome"] == "new_data" and ended["started_us"] < fresh
    assert daemon.show()["fresh_us"] == fresh


def test_an_attached_app_may_tell(daemon):
    """It hears of it as of any refresh."""
    daemon.app("exit 100")
    daemon.start()
    daemon.refresh()
    attached = daemon.client.stream("App.Attach", app=TODO)
    daemon.call("App.Synced", app=TODO, new_data=True)
    event = next(attached)["event"]
    assert (event["kind"], event["outcome"]) == ("ended", "new_data")


def test_only_those_who_may_act_for_the_app_tell(daemon):
    daemon.app("exit 100")
    daemon.start()
    with fails("org.refreshd.NoSuchApp"):
        daemon.call("App.Synced", app=MAIL)


def test_nothing_starts_with_the_trigger(daemon):
    daemon.app("exit 100")
    daemon.start()
    with fails("org.varlink.service.InvalidParameter"):
        daemon.call("Manager.Run", app=TODO, trigger="reported")


@pytest.mark.parametrize("flags, outcome", [([], "no data"), (["--new-data"], "new data")])
def test_refreshctl_tells(daemon, flags, outcome):
    daemon.app("exit 100")
    daemon.start()
    daemon.refresh()
    assert refreshctl(daemon, "synced", TODO, *flags) == f"{TODO} has been synced: {outcome}."
    assert daemon.show()["last"]["trigger"] == "reported"
