"""The output of refreshctl about pushes, against the real daemon."""

import json
import subprocess

from daemon import REFRESHD, TODO

PATIENCE = 20  # seconds; for an event that is due at once on a machine that is not overloaded


def refreshctl(daemon, *arguments, status=0, text=None):
    """The output of refreshctl in one line, because the wrapping depends on the width."""
    result = subprocess.run(
        [REFRESHD.parent / "refreshctl", *arguments, "--socket", daemon.socket],
        input=text, capture_output=True, text=True, timeout=PATIENCE, env={"TZ": "UTC"},
    )
    assert result.returncode == status, result.stderr
    return " ".join((result.stdout + result.stderr).split())


def payload(content):
    return json.dumps({"aps": {"content-available": 1}, "content-id": content})


def start(daemon, task="exit 0", **keys):
    daemon.app(task, name="Todo", **keys)
    daemon.start()


def test_a_push_from_standard_input_wakes_the_app_now(daemon):
    payloads = daemon.pipe("told")
    start(daemon, f"{{ cat; echo; }} > {payloads}")
    answer = refreshctl(daemon, "push", TODO, "-", text=payload(42) + "\n")
    assert answer == "Todo (org.example.todo) is woken with content 42 now."
    assert payloads.line() == payload(42)


def test_who_pushes_hears_for_what_the_push_waits(daemon):
    start(daemon, push_per_hour=1, push_burst=1)
    assert refreshctl(daemon, "push", TODO, payload("a")) == "Todo (org.example.todo) is woken with content a now."
    daemon.wait_for_output("1-1 finished")
    answer = refreshctl(daemon, "push", TODO, payload("b"))
    assert answer.startswith("Todo (org.example.todo) is woken with content b later: 1 push in the last 60 min, next t")
    answer = refreshctl(daemon, "push", TODO, payload("b"))
    assert answer.startswith("Todo (org.example.todo) is woken with content b later, instead of a waiting push: 1 push in the last")
    answer = refreshctl(daemon, "push", TODO, payload("c"))
    assert answer.startswith("Todo (org.example.todo) is woken with content c later: 1 push waits before it, and the next one wakes it t")
    why = refreshctl(daemon, "why", TODO)
    assert "push limit 1 of 1 in the last 60 min, 1 an hour" in why
    assert "pushes content b, instead of 1 other, came t" in why and ": waits for the limit until t" in why
    answer = refreshctl(daemon, "terminated", TODO) and refreshctl(daemon, "push", TODO, payload("d"))
    assert answer.startswith("Todo (org.example.todo) is woken with content d later: the user has quit it")
    assert "waits for the next start of the app, which the user has quit" in refreshctl(daemon, "why", TODO)


def test_who_pushes_hears_of_a_refresh_that_runs_and_of_what_holds_the_app(daemon):
    gate = daemon.pipe("gate")
    start(daemon, f"read -r line < {gate}")
    refreshctl(daemon, "push", TODO, payload(1))
    daemon.wait_for_output("1-1 started")
    answer = refreshctl(daemon, "push", TODO, payload(2))
    assert answer == "Todo (org.example.todo) is woken with content 2 later: after the refresh that is running (1-1)."
    gate.let_go()
    daemon.wait_for_output("1-2 started")
    refreshctl(daemon, "disable", TODO)
    answer = refreshctl(daemon, "push", TODO, payload(3))
    disabled = "It is disabled: not refreshed until `refreshctl enable"
    assert answer.startswith(f"Todo (org.example.todo) is woken with content 3 later: 1 push waits before it. {disabled}")


def test_who_pushes_nothing_that_wakes_hears_so(daemon):
    start(daemon)
    assert refreshctl(daemon, "push", TODO, '{"aps":{}}').startswith("Todo (org.example.todo) is not woken, because")
    assert refreshctl(daemon, "push", TODO, payload(1), "--id", "a/1") == "Todo (org.example.todo) is woken with content 1 now."
    answer = refreshctl(daemon, "push", TODO, payload(1), "--id", "a/1")
    assert answer == "Todo (org.example.todo) is not woken again: a push with this id was accepted before."


def test_a_payload_that_is_refused_is_told_with_what_to_do(daemon):
    start(daemon)
    for text in ("{", "[]", '{"aps":{"content-available":2}}', json.dumps({"aps": {}, "x": "y" * 4096})):
        answer = refreshctl(daemon, "push", TODO, text, status=65)
        assert answer.startswith("refreshctl: cannot ") and answer.endswith(".") and text not in answer


def test_what_was_told_and_what_was_dropped_are_lines_of_the_history(daemon):
    start(daemon, push_per_hour=1, push_burst=1)
    refreshctl(daemon, "push", TODO, payload(0))
    daemon.wait_for_output("1-1 finished")
    for content in range(1, 66):
        daemon.call("App.Push", app=TODO, payload=payload(content))
    answer = refreshctl(daemon, "history", TODO)
    assert "push dropped content 1, came t" in answer and answer.endswith("content 0")
    assert "dropped content 1, came t" in refreshctl(daemon, "why", TODO)


def test_the_status_shows_the_sources_for_as_long_as_the_bridge_is_there(daemon):
    start(daemon)
    home = {"name": "home", "kind": "ntfy", "is_connected": True, "since_us": 1, "received": 17, "refused": 1}
    broker = {"name": "broker", "kind": "mqtt", "is_connected": False, "since_us": 1, "received": 0, "refused": 0,
              "problem": "cannot connect: connection refused", "retry_us": 2}
    with daemon.client.open("Push") as bridge:
        bridge.Report(sources=[home, broker])
        status = refreshctl(daemon, "status")
        # The network of the machine decides whether the bridge may connect, and the status depends on it.
        state = daemon.call("Manager.Status")["status"]["push"]
    assert "home (ntfy): connected since 1 Jan 1970 00:00, 17 messages, 1 refused" in status
    assert "broker (mqtt): not connected since 1 Jan 1970 00:00, 0 messages: cannot connect: connection r" in status
    assert ("1 push source is not connected: broker." in status) == state["may_connect"]
    while "push" in daemon.call("Manager.Status")["status"]:
        pass  # The daemon notices the end of a connection a moment later.
    assert "broker" not in refreshctl(daemon, "status")
