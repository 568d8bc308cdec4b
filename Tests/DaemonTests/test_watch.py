"""Watch: events, as they happen."""

import os
import pwd

import pytest

from client import as_user, fails
from daemon import MAIL, TODO

NOBODY = pwd.getpwnam("nobody").pw_uid


def watch(daemon, **apps):
    """The events from now on. The first has arrived: it confirms the call."""
    stream = daemon.client.stream("Manager.Watch", **apps)
    assert stream.first["event"]["kind"] == "watching"
    return stream


def event(stream):
    return next(stream)["event"]


def test_a_refresh_is_told_from_start_to_end(daemon):
    daemon.app("exit 100")
    daemon.start()
    stream = watch(daemon)
    refresh = daemon.refresh()
    started, task, ended = event(stream), event(stream), event(stream)
    assert (started["kind"], started["app"], started["trigger"]) == ("started", TODO, "manual")
    assert (task["kind"], task["id"], task["task"], task["outcome"]) == ("task_ended", refresh["id"], "task0", "no_data")
    assert (ended["kind"], ended["app"]) == ("ended", TODO)
    assert started["id"] == refresh["id"] and ended["refresh"] == refresh


def test_phases_and_switches_are_told_once(daemon):
    daemon.app("exit 100")
    daemon.start()
    stream = watch(daemon)
    for _ in range(2):
        daemon.tell("logout")
        daemon.call("Manager.Disable", apps=[TODO])
        daemon.call("Manager.Pause")
    daemon.call("Manager.Resume")
    events = []
    while len(events) < 4:
        seen = event(stream)
        if seen["kind"] not in ("held", "released"):
            events.append(seen)
    assert [seen["kind"] for seen in events] == ["phase_changed"] + ["switch_changed"] * 3
    assert events[0]["phase"] == "logged_out"
    assert (events[1]["app"], events[1]["is_disabled"]) == (TODO, True)
    assert events[2]["pause"] == {"until_ac": False} and "app" not in events[2]
    assert "pause" not in events[3] and "is_disabled" not in events[3]


def test_a_wait_is_told_when_it_begins_and_ends(daemon):
    daemon.start()
    daemon.call("Manager.Pause")
    stream = watch(daemon)
    daemon.app("exit 100", background_interval="1h")
    daemon.call("Manager.Reload")
    held = event(stream)
    assert (held["kind"], held["app"], [hold["name"] for hold in held["holds"]]) == ("held", TODO, ["paused"])
    daemon.call("Manager.Resume")
    seen = {seen["kind"]: seen for seen in (event(stream) for _ in range(5))}
    assert set(seen) == {"switch_changed", "released", "started", "task_ended", "ended"}
    assert seen["released"]["wait"]["holds"] == ["paused"]


def test_only_the_named_apps_are_told_about(daemon):
    for app in (TODO, MAIL):
        daemon.app("exit 100", id=app)
    daemon.start()
    stream = watch(daemon, apps=[MAIL])
    daemon.refresh(TODO)
    daemon.refresh(MAIL)
    assert event(stream)["app"] == MAIL
    with fails("org.refreshd.NoSuchApp", app="org.example.none"):
        daemon.client.stream("Manager.Watch", apps=["org.example.none"])


def test_a_watcher_that_has_gone_is_forgotten(daemon):
    daemon.app("exit 100")
    daemon.start()
    watch(daemon).close()
    assert daemon.refresh()["outcome"] == "no_data"


def test_a_watch_is_a_stream(daemon):
    daemon.start()
    with fails("org.varlink.service.ExpectedMore"):
        daemon.call("Manager.Watch")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_everybody_is_told_about_his_own_apps(daemon):
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    daemon.status()
    with as_user(NOBODY):
        stream = watch(daemon)
        with fails("org.refreshd.NotAllowed", app=TODO):
            daemon.client.stream("Manager.Watch", apps=[TODO])
    daemon.refresh(TODO)
    daemon.refresh(MAIL)
    assert event(stream)["app"] == MAIL


def test_a_process_that_attaches_and_leaves_is_told(daemon):
    daemon.app("exit 100")
    daemon.start()
    stream = watch(daemon)
    attached = daemon.client.stream("App.Attach", app=TODO)
    seen = event(stream)
    assert (seen["kind"], seen["app"]) == ("attached", TODO)
    attached.close()
    assert event(stream)["kind"] == "detached"


def test_the_end_of_one_task_is_told_while_the_others_run(daemon):
    """To those who watch, to holders of leases, and to a process that has attached after the start."""
    gate = daemon.pipe("gate")
    tasks = [
        {"name": "pull", "shell": "echo three mails"},
        {"name": "sort", "shell": "exit 3", "after": ["pull"]},
        {"name": "push", "shell": f"read line < {gate}"},
    ]
    daemon.app(*tasks)
    daemon.start()
    stream, lease = watch(daemon), daemon.lease("launched")
    run = daemon.run()
    attached = daemon.client.stream("App.Attach", app=TODO)
    id = run.first["event"]["id"]
    seen = []
    while len(seen) < 2:
        seen += [told for told in [event(stream)] if told["kind"] == "task_ended"]
    assert [(told["id"], told["task"], told["outcome"], told.get("text")) for told in seen] == [
        (id, "pull", "new_data", "three mails"), (id, "sort", "failed", "exit code 3"),
    ]  # fmt: skip
    notices = [next(lease)["notice"] for _ in range(2)]
    assert [(notice["kind"], notice["refresh"], notice["task"], notice["outcome"]) for notice in notices] == [
        ("task_ended", id, "pull", "new_data"), ("task_ended", id, "sort", "failed"),
    ]  # fmt: skip
    # The refresh goes on.
    assert daemon.show()["running"]["id"] == id
    gate.let_go()
    told = attached.first["event"]
    while told.get("task") != "push":
        told = next(attached)["event"]
    assert (told["refresh"], told["outcome"]) == (id, "new_data")
    assert next(attached)["event"]["kind"] == "ended"
