"""Pushes and the conditions of the machine: power and network for each urgency, and when the bridge may connect."""

import json

import pytest
import varlink

from service import SOCKET, TODO, app

# Reports its input.
TASK = "echo delivered $REFRESH_CONTENT_ID"
DISPLAY = "/org/freedesktop/UPower/devices/DisplayDevice"
DEVICE = "org.freedesktop.UPower.Device"


@pytest.fixture
def client():
    with varlink.Client(address=f"unix:{SOCKET}") as client:
        yield client


def push(client, content, urgency):
    payload = json.dumps({"aps": {"content-available": 1}, "content-id": content})
    with client.open("org.refreshd.App") as connection:
        return connection.Push(app=TODO, payload=payload, urgency=urgency)["fate"]


def delivered(journal, count):
    """The payloads that the app received, once there are this many."""
    journal.wait("refreshFinished", count, REFRESH_APP=TODO)
    lines = [entry["MESSAGE"] for entry in journal.entries(REFRESH_APP=TODO) if "delivered" in entry["MESSAGE"]]
    return [line.split()[-1] for line in lines]


def waits(refreshd):
    why = json.loads(refreshd.refreshctl("why", TODO, "--json").stdout)["why"]
    return [(push["content_id"], push["wait"]) for push in why["pushes"]]


def test_urgency_against_the_battery_and_the_network(upower, network_manager, refreshd, journal, client):
    """A low battery, a charged one, mains power, and mains power with an unmetered network. The app itself has no
    constraints."""
    upower.set(DISPLAY, DEVICE, IsPresent=("b", "true"), Percentage=("d", 10.0))
    upower.set(OnBattery=("b", "true"))
    network_manager.set(Metered=("u", 1))
    refreshd.configure(app(TASK))
    refreshd.start()
    journal.wait("daemonReady")
    for urgency in ("very_low", "low", "normal", "high"):
        assert push(client, urgency, urgency) == "queued"
    assert delivered(journal, 1) == ["high"]
    assert waits(refreshd) == [(urgency, "urgency") for urgency in ("very_low", "low", "normal")]
    upower.set(DISPLAY, DEVICE, Percentage=("d", 60.0))
    assert delivered(journal, 2) == ["high", "normal"]
    upower.set(OnBattery=("b", "false"))
    assert delivered(journal, 3) == ["high", "normal", "low"]
    assert waits(refreshd) == [("very_low", "urgency")]
    network_manager.set(Metered=("u", 2))
    assert delivered(journal, 4) == ["high", "normal", "low", "very_low"]


def test_the_bridge_may_connect_while_the_network_is_there(network_manager, refreshd, journal, client):
    """The bridge is also notified of another network, because its connections do not survive the change."""
    refreshd.launch_by("systemd", '[push]\nnetwork = "unmetered"\n')
    refreshd.configure(app(TASK))
    refreshd.start()
    with client.open("org.refreshd.Push") as connection:
        answers = connection.Watch(_more=True)
        answer = next(answers)
        if not answer["may_connect"]:
            answer = next(answers)
        assert answer["may_connect"]
        network_manager.set(Metered=("u", 1))
        assert next(answers) == {**answer, "may_connect": False}
        network_manager.set(Metered=("u", 2))
        assert next(answers) == answer
        network_manager.set(PrimaryConnectionType=("s", "802-3-ethernet"))
        other = next(answers)
        assert other["may_connect"] and other["network"] != answer["network"]
        network_manager.set(State=("u", 20), Connectivity=("u", 1))
        assert next(answers)["may_connect"] is False
