"""The user's switches: Disable, Enable, Skip, Pause, Resume, Schedule."""

import os
import pwd
import time

import pytest

from client import as_user, fails
from daemon import MAIL, TODO, finished

HOUR = 3_600_000_000
NOBODY = pwd.getpwnam("nobody").pw_uid


def test_a_disabled_app_is_not_refreshed_until_it_is_enabled(daemon):
    daemon.app("exit 0")
    daemon.start()
    disabled = daemon.call("Manager.Disable", apps=[TODO])["apps"]
    assert [(row["id"], row["verdict"], [hold["name"] for hold in row["holds"]]) for row in disabled] == [
        (TODO, "held", ["disabled"])
    ]
    held = {"name": "disabled", "remedy": f"refreshctl enable {TODO}"}
    with fails("org.refreshd.Manager.Held", app=TODO, holds=[held]):
        daemon.refresh()
    daemon.restart()
    with fails("org.refreshd.Manager.Held", app=TODO):
        daemon.refresh()
    daemon.call("Manager.Enable", apps=[TODO])
    assert daemon.refresh()["outcome"] == "new_data"


def test_an_unknown_app_keeps_the_others_as_they_are(daemon):
    daemon.app("exit 0")
    daemon.start()
    for method in ("Disable", "Enable", "Skip"):
        with fails("org.refreshd.NoSuchApp", app=MAIL):
            daemon.call(f"Manager.{method}", apps=[TODO, MAIL])
    assert daemon.refresh()["outcome"] == "new_data"


def test_a_caller_that_waits_learns_that_the_app_is_disabled(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo started > {events}; read _ < {go}")
    daemon.start()
    daemon.run()
    events.line()
    second = daemon.run()
    daemon.call("Manager.Disable", apps=[TODO])
    with fails("org.refreshd.Manager.Held", app=TODO):
        finished(second)


def test_a_skipped_refresh_is_passed_over(daemon):
    """The next refresh is one interval later; a user may start one all the same."""
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    first = daemon.refresh()["started_us"]
    before = daemon.show()["due_us"]
    skipped = daemon.call("Manager.Skip", apps=[TODO])
    (row,) = skipped["apps"]
    assert row["due_us"] >= max(before, first) + HOUR and skipped["unchanged"] == []
    again = daemon.call("Manager.Skip", apps=[TODO])
    assert again["apps"][0]["due_us"] == row["due_us"] and again["unchanged"] == [TODO]
    assert daemon.refresh()["outcome"] == "no_data"


def test_a_pause_holds_all_apps_and_outlives_the_daemon(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    until = int((time.time() + 3600) * 1e6)
    assert daemon.call("Manager.Pause", until_us=until) == {"pause": {"until_us": until, "until_ac": False}}
    assert daemon.status()["pause"] == {"until_us": until, "until_ac": False}
    daemon.restart()
    assert abs(daemon.status()["pause"]["until_us"] - until) < 1_000_000
    assert daemon.refresh()["trigger"] == "manual"
    daemon.call("Manager.Resume")
    assert "pause" not in daemon.status()
    assert daemon.call("Manager.Pause") == {"pause": {"until_ac": False}}
    daemon.call("Manager.Resume")
    daemon.call("Manager.Resume")


@pytest.mark.parametrize(
    "parameters, wrong",
    [({"until_us": -1}, "until_us"), ({"until_us": 2**63 - 1}, "until_us"), ({"until_us": 1, "until_ac": True}, "until_ac")],
)
def test_a_pause_that_makes_no_sense_is_refused(daemon, parameters, wrong):
    daemon.start()
    with fails("org.varlink.service.InvalidParameter", parameter=wrong):
        daemon.call("Manager.Pause", **parameters)
    assert "pause" not in daemon.status()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_a_pause_is_the_administrators(daemon):
    daemon.start()
    daemon.status()
    for method in ("Manager.Pause", "Manager.Resume"):
        with as_user(NOBODY), fails("org.refreshd.NotAllowed"):
            daemon.call(method)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize(
    "method, parameters",
    [
        ("Disable", {"apps": [TODO]}), ("Enable", {"apps": [TODO]}), ("Skip", {"apps": [TODO]}),
        ("Schedule", {"app": TODO, "earliest_us": 0}), ("Why", {"app": TODO}),
    ],
)
def test_another_users_app_is_not_ones_own(daemon, method, parameters):
    daemon.app("exit 100")
    daemon.start()
    daemon.status()
    with as_user(NOBODY), fails("org.refreshd.NotAllowed", app=TODO):
        daemon.call(f"Manager.{method}", **parameters)
    assert daemon.show()["holds"] == [{"name": "never", "remedy": daemon.show()["holds"][0]["remedy"]}]


def test_a_scheduled_refresh_starts_at_its_time(daemon):
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}")
    daemon.start()
    earliest = int((time.time() + 0.5) * 1e6)
    answer = daemon.call("Manager.Schedule", app=TODO, earliest_us=earliest, reason="before the train")
    assert answer["one_shot"] == {"earliest_us": earliest, "reason": "before the train"}
    assert events.line() == "manual"
    daemon.wait_for_output("finished")
    daemon.settle()
    assert daemon.history()[0]["started_us"] >= earliest - 1000


def test_what_is_scheduled_outlives_the_daemon(daemon):
    daemon.app("exit 0")
    daemon.start()
    earliest = int((time.time() + 3600) * 1e6)
    daemon.call("Manager.Schedule", app=TODO, earliest_us=earliest, reason="later")
    daemon.restart()
    one_shot = daemon.call("Manager.Why", app=TODO)["why"]["one_shot"]
    assert one_shot["reason"] == "later" and abs(one_shot["earliest_us"] - earliest) < 1_000_000


def test_a_disabled_app_is_not_scheduled(daemon):
    daemon.app("exit 0")
    daemon.start()
    daemon.call("Manager.Disable", apps=[TODO])
    with fails("org.refreshd.Manager.Held", app=TODO):
        daemon.call("Manager.Schedule", app=TODO, earliest_us=int(time.time() * 1e6))
    with fails("org.varlink.service.InvalidParameter", parameter="earliest_us"):
        daemon.call("Manager.Enable", apps=[TODO])
        daemon.call("Manager.Schedule", app=TODO, earliest_us=-1)


def test_a_run_that_is_held_says_so_and_waits(daemon):
    """For a network that does not exist, until the file no longer asks for it."""
    daemon.configure('foreground_floor = "1ms"\nbackground_floor = "1ms"\nunknown_conditions = "unmet"\n')
    daemon.app("exit 0", network="wifi", ssids=["no such network"])
    daemon.start()
    stream = daemon.run()
    assert stream.first["event"]["kind"] == "held"
    assert [hold["name"] for hold in stream.first["event"]["holds"]] == ["network"]
    daemon.app("exit 0")
    daemon.call("Manager.Reload")
    assert finished(stream)["outcome"] == "new_data"
