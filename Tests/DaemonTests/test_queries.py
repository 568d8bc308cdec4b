"""The replies of List, Show, Status, Version and History."""

import os
import time

import pytest

from client import fails
from daemon import LAUNCHER, MAIL, TODO

HOUR = 3_600_000_000


def test_the_list_is_sorted_and_says_what_is_next(daemon):
    daemon.app("exit 1", id=TODO, name="To do", background_interval="1h")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    refresh = daemon.refresh()
    # A failed refresh by hand does not move the next one by time.
    first = daemon.history()[-1]
    daemon.tell("logout", MAIL)
    mail, todo = daemon.call("Manager.List")["apps"]
    assert mail == {
        "id": MAIL,
        "name": "mail",
        "owner": "root",
        "phase": "logged_out",
        "verdict": "held",
        "holds": [{"name": "logged-out", "remedy": f"refreshctl login {MAIL}"}],
        "next": {"holds": [{"name": "logged-out", "remedy": f"refreshctl login {MAIL}"}]},
    }
    ended = refresh["started_us"] + refresh["duration_us"]
    assert todo.pop("next")["due"]["earliest_us"] == todo["due_us"]
    assert todo == {
        "id": TODO,
        "name": "To do",
        "owner": "root",
        "phase": "background",
        "verdict": "not_due",
        "due_us": first["started_us"] + HOUR,
        "holds": [],
        "last": {"outcome": "failed", "cause": "exit code 1", "ended_us": ended},
    }


def test_an_app_is_shown_whole(daemon):
    daemon.app(
        {"name": "pull", "run": ["/bin/sh", "-c", "exit 0"]}, {"shell": "exit 100"},
        name="To do", foreground_interval="2min", background_interval="10min", on_foreground="always",
        deadline="20s", grace="3s",
    )
    daemon.configure('background_floor = "10min"\n')
    daemon.start()
    refresh = daemon.refresh(trigger="push")
    app = daemon.show()
    assert (app.pop("last"), app.pop("fresh_us")) == (refresh, refresh["started_us"])
    assert app.pop("next")["due"]["earliest_us"] == app["due_us"]
    assert app == {
        "id": TODO,
        "name": "To do",
        "owner": "root",
        "phase": "background",
        "verdict": "not_due",
        "due_us": refresh["started_us"] + HOUR // 6,
        "due_trigger": "interval",
        "holds": [],
        "foreground_interval": {
            "in_force": "2min", "in_force_us": HOUR // 30, "configured": "2min", "overridden": False,
        },
        "background_interval": {
            "in_force": "10min", "in_force_us": HOUR // 6, "configured": "10min", "overridden": False,
        },
        "on_foreground": "always",
        "deadline_us": 20_000_000,
        "grace_us": 3_000_000,
        "tasks": [
            {"name": "pull", "command": ["/bin/sh", "-c", "exit 0"], "after": []},
            {"name": "shell", "command": ["/bin/sh", "-c", "exit 100"], "after": []},
        ],
        "file": str(daemon.file()),
    }


def test_a_running_refresh_is_shown(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo started > {events}; read _ < {go}")
    daemon.start()
    stream = daemon.run(trigger="push")
    events.line()
    app = daemon.show()
    assert app["verdict"] == "refreshing" and "due_us" not in app
    assert (app["running"]["id"], app["running"]["trigger"]) == ("1-1", "push")
    assert daemon.call("Manager.List")["apps"][0]["running"] == "1-1"
    assert daemon.status()["refreshing"] == 1
    go.let_go()
    refresh = [answer["event"] for answer in stream][-1]["refresh"]
    assert refresh["started_us"] == app["running"]["started_us"]


def test_the_status_of_the_daemon(daemon):
    daemon.app("exit 100", background_interval="1h")
    daemon.app("exit 100", id=MAIL, background_interval="2h")
    before = time.time() * 1e6
    daemon.start()
    refreshes = {app: daemon.refresh(app) for app in (TODO, MAIL)}
    status = daemon.status()
    assert before - 1e6 < status.pop("since_us") < time.time() * 1e6
    assert before - 1e6 < status["configuration"].pop("since_us") < time.time() * 1e6
    assert ("a child process" in status.pop("unconfined", "")) == (LAUNCHER == "spawn")
    assert status == {
        "version": daemon.call("Manager.Version")["version"],
        "start": 1,
        "is_user_daemon": False,
        "socket": str(daemon.socket),
        "launcher": LAUNCHER,
        "launcher_reason": "refreshd.toml says so",
        "apps": 2,
        "transferring": 0,
        "transfers_waiting": 0,
        "refreshing": 0,
        "next": {
            "app": TODO, "due_us": refreshes[TODO]["started_us"] + HOUR,
            "start_us": refreshes[TODO]["started_us"] + HOUR,
        },
        "configuration": {"directories": [str(daemon.config)], "problems": []},
        "store": {"directory": str(daemon.state)},
    }


def test_the_history_is_newest_first_and_as_long_as_asked_for(daemon):
    daemon.app("exit 100")
    daemon.start()
    assert daemon.history() == []
    refreshes = [daemon.refresh() for _ in range(5)]
    assert daemon.history() == refreshes[::-1]
    assert daemon.history(limit=2) == refreshes[:-3:-1]
    assert daemon.history(limit=100) == refreshes[::-1]
    for limit in (0, -1):
        with fails("org.varlink.service.InvalidParameter", parameter="limit"):
            daemon.history(limit=limit)


def test_the_history_is_bounded(daemon):
    """The daemon keeps the newest 200 or so refreshes of an app."""
    daemon.app({"run": ["/bin/true"]})
    daemon.start()
    with daemon.client.open("Manager") as manager:
        for _ in range(260):
            last = manager.Run(app=TODO)["event"]["refresh"]
    history = daemon.history()
    assert 200 <= len(history) < 260
    assert history[0] == last


def test_the_service_describes_itself(daemon):
    """The interface org.varlink.service, which any Varlink client expects."""
    daemon.start()
    with daemon.client.client.open("org.varlink.service", connection=daemon.client.connect()) as service:
        info = service.GetInfo()
        assert (info["product"], info["version"]) == ("refreshd", daemon.call("Manager.Version")["version"])
        expected = {"org.refreshd", "org.refreshd.App", "org.refreshd.Manager", "org.varlink.service"}
        assert expected <= set(info["interfaces"])
        for interface in info["interfaces"]:
            assert f"interface {interface}" in service.GetInterfaceDescription(interface)["description"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may name another owner")
def test_an_owner_without_a_name_is_shown_by_number(daemon):
    daemon.app("exit 100", owner="nobody")
    daemon.start()
    assert daemon.show()["owner"] == "nobody"
