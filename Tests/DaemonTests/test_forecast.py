"""Forecast: which refreshes would start when, and why other apps have none."""

import os
import pwd
import subprocess

import pytest

from client import as_user, fails
from daemon import MAIL, REFRESHD, TODO

HOUR = 3_600_000_000
NOBODY = pwd.getpwnam("nobody").pw_uid
STRANGER = 54321


def forecast(daemon, **parameters):
    return daemon.call("Manager.Forecast", **parameters)


def starts(answer):
    return [(start["app"], start["trigger"]) for wake in answer["wakes"] for start in wake["starts"]]


def test_a_forecast_begins_with_what_show_and_why_say(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    refresh = daemon.refresh()
    answer = forecast(daemon)
    assert starts(answer) == [(TODO, "interval")] * 24
    first = answer["wakes"][0]["window"]
    assert first["earliest_us"] == daemon.show()["due_us"] == refresh["started_us"] + HOUR
    assert first["earliest_us"] < first["latest_us"]
    assert (answer["until_us"] - answer["from_us"], answer["is_cut"], answer["rest"]) == (24 * HOUR, False, [])


def test_what_does_not_start_is_told_with_its_reason(daemon):
    daemon.app("exit 100", id="org.example.never")
    daemon.app("exit 100", id="org.example.later", background_interval="24h")
    daemon.app("exit 100", id="org.example.off", background_interval="1h")
    daemon.start()
    daemon.call("Manager.Disable", apps=["org.example.off"])
    later = daemon.refresh("org.example.later")
    rest = {rest["app"]: rest for rest in forecast(daemon, hours=1)["rest"]}
    assert rest["org.example.later"] == {
        "app": "org.example.later", "due_us": later["started_us"] + 24 * HOUR, "holds": [],
    }
    assert [hold["name"] for hold in rest["org.example.never"]["holds"]] == ["never"]
    assert [hold["name"] for hold in rest["org.example.off"]["holds"]] == ["disabled"]


def test_a_forecast_starts_nothing_and_forgets_nothing(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    daemon.refresh()
    before = daemon.show(), daemon.history()
    forecast(daemon, hours=168)
    assert (daemon.show(), daemon.history()) == before
    daemon.restart()
    assert daemon.history() == before[1]


def test_what_runs_is_taken_to_end_at_once(daemon):
    gate = daemon.pipe("gate")
    daemon.app(f"cat {gate}", background_interval="1h")
    daemon.start()
    daemon.wait_for_output("started (interval)")
    assert daemon.show()["verdict"] == "refreshing"
    assert starts(forecast(daemon, hours=4)) == [(TODO, "interval")] * 4
    assert daemon.show()["verdict"] == "refreshing"


def test_a_fleet_in_a_hurry_is_cut_and_the_daemon_goes_on_meanwhile(daemon):
    daemon.app("exit 100", background_interval="1s")
    daemon.start()
    daemon.refresh()
    answer = forecast(daemon, hours=168)
    assert answer["is_cut"] and len(starts(answer)) == 5000
    assert answer["until_us"] == answer["wakes"][-1]["window"]["earliest_us"]


@pytest.mark.parametrize("hours", [0, 169, -1])
def test_hours_out_of_bounds_are_refused(daemon, hours):
    daemon.start()
    with fails("org.varlink.service.InvalidParameter", parameter="hours"):
        forecast(daemon, hours=hours)


def test_one_app_is_told_alone(daemon):
    for app in (TODO, MAIL):
        daemon.app("exit 100", id=app, background_interval="1h")
    daemon.start()
    for app in (TODO, MAIL):
        daemon.refresh(app)
    assert {app for app, _ in starts(forecast(daemon))} == {TODO, MAIL}
    assert {app for app, _ in starts(forecast(daemon, app=MAIL))} == {MAIL}
    with fails("org.refreshd.NoSuchApp", app="org.example.none"):
        forecast(daemon, app="org.example.none")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_everybody_is_told_about_his_own_apps(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/", background_interval="1h")
    daemon.start()
    daemon.refresh(MAIL)
    with as_user(NOBODY):
        answer = forecast(daemon)
        with fails("org.refreshd.NotAllowed", app=TODO):
            forecast(daemon, app=TODO)
    assert {app for app, _ in starts(answer)} == {MAIL} and answer["rest"] == []
    assert answer["has_apps_of_others"] is True
    with as_user(STRANGER):
        assert forecast(daemon)["has_apps_of_others"] is True
    assert "has_apps_of_others" not in forecast(daemon)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize("command", ["forecast", "timeline"])
def test_a_user_without_apps_is_told_of_those_of_others(daemon, command):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    program = [REFRESHD.with_name("refreshctl"), command, "--socket", daemon.socket]
    said = subprocess.run(program, capture_output=True, text=True, user=STRANGER, group=STRANGER, extra_groups=[])
    assert said.stdout.startswith("You have no apps. There are apps of other users."), said
