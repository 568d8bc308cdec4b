"""Metrics: OpenMetrics text, read by a parser that is not ours: the PyPI package `prometheus_client`."""

import os
import pwd

import pytest
from prometheus_client import parser as older
from prometheus_client.openmetrics import parser

from client import as_user, fails
from daemon import MAIL, TODO

NOBODY = pwd.getpwnam("nobody").pw_uid


def text(daemon):
    return daemon.call("Manager.Metrics")["text"]


def families(daemon):
    return {family.name: family for family in parser.text_string_to_metric_families(text(daemon))}


def value(families, name, sample="", **labels):
    """The one sample of a family with these labels."""
    (found,) = [
        entry.value for entry in families[name].samples if entry.name == name + sample and entry.labels == labels
    ]
    return found


def test_refreshes_are_counted_by_outcome_and_trigger(daemon):
    daemon.app("exit 0")
    daemon.app("exit 3", id=MAIL)
    daemon.start()
    assert value(families(daemon), "refreshd_refreshes", "_total", outcome="new-data", trigger="manual") == 0
    first, second = daemon.refresh(), daemon.refresh()
    failed = daemon.refresh(MAIL, trigger="push")
    metrics = families(daemon)
    counts = {
        tuple(entry.labels.values()): entry.value
        for entry in metrics["refreshd_refreshes"].samples if entry.name.endswith("_total") and entry.value
    }
    assert counts == {("new-data", "manual"): 2, ("failed", "push"): 1}
    assert value(metrics, "refreshd_app_refreshes", "_total", app=TODO) == 2
    assert value(metrics, "refreshd_app_fresh_timestamp_seconds", app=TODO) * 1e6 == pytest.approx(
        second["started_us"], abs=1000)
    assert not [entry for entry in metrics["refreshd_app_fresh_timestamp_seconds"].samples if entry.labels["app"] == MAIL]
    durations = [refresh["duration_us"] for refresh in (first, second, failed)]
    assert value(metrics, "refreshd_refresh_duration_seconds", "_sum") * 1e6 == pytest.approx(sum(durations), abs=1)
    assert value(metrics, "refreshd_refresh_duration_seconds", "_count") == 3
    assert value(metrics, "refreshd_refresh_duration_seconds", "_bucket", le="600.0") == 3
    within = sum(duration <= 300_000 for duration in durations)
    assert value(metrics, "refreshd_refresh_duration_seconds", "_bucket", le="0.3") == within


def test_apps_are_counted_by_phase_and_by_hold(daemon):
    for app in (TODO, MAIL):
        daemon.app("exit 100", id=app)
    daemon.start()
    daemon.tell("foreground")
    daemon.call("Manager.Disable", apps=[MAIL])
    metrics = families(daemon)
    assert [value(metrics, "refreshd_apps", phase=phase) for phase in ("foreground", "background", "logged-out")] == [
        1, 1, 0,
    ]
    assert value(metrics, "refreshd_held_apps", hold="disabled") == 1
    assert value(metrics, "refreshd_held_apps", hold="never") == 1
    assert value(metrics, "refreshd_running_refreshes") == 0


def test_counters_begin_with_the_daemon_and_starts_do_not(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    daemon.refresh()
    daemon.restart()
    metrics = families(daemon)
    assert value(metrics, "refreshd_starts", "_total") == 2
    assert value(metrics, "refreshd_app_refreshes", "_total", app=TODO) == 0
    since = daemon.status()["since_us"]
    assert value(metrics, "refreshd_wakes", "_created") * 1e6 == pytest.approx(since, abs=1000)
    assert value(metrics, "refreshd_start_timestamp_seconds") * 1e6 == pytest.approx(since, abs=1000)


def test_wakes_and_writes_are_counted(daemon):
    # Longer than a refresh takes, so that no other refresh follows.
    daemon.app("exit 100", foreground_interval="200ms")
    daemon.start()
    events = daemon.client.stream("Manager.Watch")
    daemon.tell("foreground")
    while next(events)["event"].get("trigger") != "interval":
        pass
    events.close()
    daemon.settle()
    metrics = families(daemon)
    assert value(metrics, "refreshd_wakes", "_total") >= 1
    assert value(metrics, "refreshd_store_write_seconds", "_count") >= 2
    assert value(metrics, "refreshd_store_write_seconds", "_sum") > 0
    assert value(metrics, "refreshd_store_failed_writes", "_total") == 0


def test_a_family_that_is_measured_says_its_unit_and_all_are_explained(daemon):
    daemon.app("exit 100")
    daemon.start()
    for name, family in families(daemon).items():
        assert family.documentation
        assert family.unit == next((unit for unit in ["seconds", "bytes"] if name.endswith(f"_{unit}")), "")


def test_the_older_format_takes_the_text_as_well(daemon):
    """node_exporter reads files in the format before OpenMetrics; one unknown type would make it reject the file."""
    daemon.app("exit 100")
    daemon.start()
    daemon.refresh()
    kinds = {line.split()[3] for line in text(daemon).splitlines() if line.startswith("# TYPE")}
    assert kinds == {"counter", "gauge", "histogram", "summary"}
    samples = {sample.name for family in older.text_string_to_metric_families(text(daemon)) for sample in family.samples}
    assert {"refreshd_refreshes_total", "refreshd_app_fresh_timestamp_seconds"} <= samples


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_only_who_may_ask_about_all_apps_is_answered(daemon):
    daemon.start()
    daemon.status()
    with as_user(NOBODY), fails("org.refreshd.NotAllowed"):
        text(daemon)
