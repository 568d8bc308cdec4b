"""Pushes for tests, and an app that reports the pushes it receives."""

import json

import pytest

from daemon import TODO


def payload(content=None, **more):
    """A payload that wakes the app."""
    about = {} if content is None else {"content-id": content}
    return json.dumps({"aps": {"content-available": 1}, **about, **more})


def push(daemon, text, app=TODO, **more):
    return daemon.call("App.Push", app=app, payload=text, **more)


def deliver(daemon, *deliveries):
    return daemon.call("Push.Deliver", deliveries=list(deliveries))["results"]


def why(daemon, app=TODO):
    return daemon.call("Manager.Why", app=app)["why"]


def waits(daemon, app=TODO):
    """The content of each waiting push, and what the push waits for."""
    return [(push.get("content_id"), push["wait"]) for push in why(daemon, app)["pushes"]]


def counts(daemon):
    """The number of pushes for each fate, from the metrics; fates without a push are left out."""
    lines = daemon.call("Manager.Metrics")["text"].splitlines()
    found = [line for line in lines if line.startswith("refreshd_pushes_total")]
    values = {line.split('"')[1]: int(line.rsplit(" ", 1)[1]) for line in found}
    assert set(values) == {"queued", "merged", "told", "known", "refused", "dropped", "delivered"}
    return {fate: count for fate, count in values.items() if count}


# Writes trigger, content id and payload into a pipe, in one line.
TELL = 'read -r said || :; echo "$REFRESH_TRIGGER ${{REFRESH_CONTENT_ID-none}} $said" > {events}'


@pytest.fixture
def delivered(daemon):
    """A pipe with a line for each refresh of the app: its trigger, content id and payload."""
    return daemon.pipe("told")


def start(daemon, delivered, **keys):
    daemon.app(TELL.format(events=delivered), **{"push_burst": 100, "push_per_hour": 3600, **keys})
    daemon.start()
