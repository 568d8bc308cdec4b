"""Guards have no refreshes: each command about one is refused, and changes nothing."""

import subprocess

import pytest

from client import fails
from daemon import MAIL, REFRESHD, TODO
from pushing import payload

UNIT = "no-such-guarded.service"
LATER = 4_000_000_000_000_000
DOWNLOAD = {"url": "https://example.org/a", "path": "/tmp/a", "direction": "download"}


@pytest.fixture
def guard(daemon):
    daemon.file().write_text(f'id = "{TODO}"\nkind = "guard"\nunit = "{UNIT}"\n')
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    return daemon


@pytest.mark.parametrize("method, parameters", [
    ("Manager.Run", {"app": TODO}),
    ("Manager.Schedule", {"app": TODO, "earliest_us": 0}),
    ("Manager.Set", {"apps": [MAIL, TODO], "background_interval": "1h"}),
    ("Manager.Skip", {"apps": [MAIL, TODO]}),
    ("Manager.Skip", {"apps": [TODO], "until_us": 0}),
    ("App.Push", {"app": TODO, "payload": payload("x")}),
    ("App.Synced", {"app": TODO}),
    ("Transfers.Enqueue", {"app": TODO, "transfers": [DOWNLOAD]}),
])
def test_what_does_nothing_for_a_guard_is_refused(guard, method, parameters):
    with fails("org.refreshd.IsGuard", app=TODO, unit=UNIT):
        guard.call(method, **parameters)
    assert guard.show(MAIL)["background_interval"]["overridden"] is False


def test_a_push_of_the_bridge_is_refused_for_good(guard):
    deliveries = [{"app": TODO, "payload": payload("x")}, {"app": MAIL, "payload": payload("x")}]
    guarded, other = guard.call("Push.Deliver", deliveries=deliveries)["results"]
    assert guarded == {"refusal": f"cannot push to {TODO}: it guards {UNIT} and refreshes nothing"}
    assert other["fate"] == "queued"


@pytest.mark.parametrize("arguments", [
    ["run"], ["run", "--after", "1h"], ["synced"], ["skip"], ["set", "--background", "1h"], ["expire"],
])
def test_a_person_is_told_that_it_is_a_guard(guard, arguments):
    command = [REFRESHD.with_name("refreshctl"), *arguments, TODO, "--socket", guard.socket]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert f"cannot refresh {TODO}: it guards {UNIT} and refreshes nothing" in result.stderr
