"""Run: a refresh now, with its steps."""

import subprocess

import pytest

from client import answers, fails
from daemon import TODO, finished
from test_json import REFRESHCTL

TRIGGERS = ["interval", "foreground", "push", "transfer", "retry", "catch_up", "change", "manual"]


def test_the_steps_of_a_refresh_are_streamed(daemon):
    """Started, each line while the task still runs, finished."""
    go = daemon.pipe("go")
    daemon.app({"name": "pull", "shell": f"echo one; read _ < {go}; echo two >&2; printf three; exit 100"})
    daemon.start()
    stream = daemon.run()
    assert stream.first["event"] == {"kind": "started", "id": "1-1"}
    assert next(stream)["event"] == {"kind": "output", "task": "pull", "text": "one"}
    go.let_go()
    *output, last = [answer["event"] for answer in stream.answers]
    assert [event["text"] for event in output] == ["two", "three"]
    assert (last["kind"], last["refresh"]["id"], last["refresh"]["outcome"]) == ("finished", "1-1", "no_data")
    assert daemon.history() == [last["refresh"]]


def test_a_run_without_more_answers_once_with_the_end(daemon):
    daemon.app("echo hello; exit 100")
    daemon.start()
    event = daemon.call("Manager.Run", app=TODO)["event"]
    assert (event["kind"], event["refresh"]["outcome"]) == ("finished", "no_data")
    assert event["refresh"]["tasks"][0]["message"] == "hello"


@pytest.mark.parametrize("trigger", TRIGGERS)
def test_a_task_is_told_the_trigger_of_the_call(daemon, trigger):
    daemon.app("echo $REFRESH_TRIGGER")
    daemon.start()
    refresh = daemon.refresh(trigger=trigger)
    assert (refresh["trigger"], refresh["tasks"][0]["message"]) == (trigger, trigger.replace("_", "-"))


def test_calls_during_a_refresh_share_one_more(daemon):
    """Never two at once, and at most one more afterwards."""
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo $REFRESH_ID > {events}; read _ < {go}; echo over > {events}")
    daemon.start()
    first = daemon.run()
    assert events.line() == "1-1"
    queued = [daemon.run() for _ in range(3)]
    assert [stream.first["event"] for stream in queued] == [{"kind": "queued", "id": "1-1"}] * 3
    assert events.lines_so_far() == []
    go.let_go()
    assert finished(first)["id"] == "1-1"
    assert events.lines(2) == ["over", "1-2"]
    go.let_go()
    assert {finished(stream)["id"] for stream in queued} == {"1-2"}
    assert [refresh["id"] for refresh in daemon.history()] == ["1-2", "1-1"]


def test_a_call_is_shown_the_refresh_that_it_asked_for(daemon):
    """Not a refresh that began just before the call and is not saved yet."""
    daemon.app("exit 100", on_foreground="always")
    daemon.start()
    with daemon.client.send(
        ("org.refreshd.App.Signal", {"app": TODO, "signal": "foreground"}), ("org.refreshd.Manager.Run", {"app": TODO})
    ) as connection:
        phase, run = answers(connection, 2)
    assert phase["parameters"] == {"phase": "foreground"}
    assert run["parameters"]["event"]["refresh"]["trigger"] == "manual"
    assert [(refresh["id"], refresh["trigger"]) for refresh in daemon.history()] == [
        ("1-2", "manual"),
        ("1-1", "foreground"),
    ]


def test_the_end_of_the_connection_stops_nothing(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo started > {events}; read _ < {go}")
    daemon.start()
    stream = daemon.run()
    events.line()
    stream.close()
    go.let_go()
    daemon.wait_for_output("finished")
    daemon.settle()
    assert [refresh["outcome"] for refresh in daemon.history()] == ["new_data"]


def test_never_does_not_keep_a_person_from_asking(daemon):
    daemon.app("exit 0")
    daemon.start()
    assert [hold["name"] for hold in daemon.show()["holds"]] == ["never"]
    assert daemon.refresh()["outcome"] == "new_data"


def test_a_call_that_is_queued_is_answered_when_the_app_is_logged_out(daemon):
    events = daemon.pipe("events")
    daemon.app(f"echo started > {events}; while :; do sleep 1; done")
    daemon.start()
    first = daemon.run()
    events.line()
    queued = daemon.run()
    daemon.tell("logout")
    with fails("org.refreshd.Manager.Held", app=TODO) as held:
        finished(queued)
    assert [hold["name"] for hold in held["holds"]] == ["logged-out"]
    assert finished(first)["stop_reason"] == "logout"


def test_a_logged_out_app_is_not_run_while_its_last_refresh_ends(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"trap '' TERM; echo started > {events}; read _ < {go}")
    daemon.start()
    first = daemon.run()
    events.line()
    daemon.tell("logout")
    with fails("org.refreshd.Manager.Held", app=TODO):
        daemon.refresh()
    go.let_go()
    assert finished(first)["stop_reason"] == "logout"


def test_an_app_that_is_not_there(daemon):
    daemon.start()
    for method in ["Show", "Run", "History"]:
        with fails("org.refreshd.NoSuchApp", app="org.example.none"):
            daemon.call(f"Manager.{method}", app="org.example.none")


def test_a_person_may_refresh_an_app_against_its_constraints(daemon):
    # No machine of the tests has Wi-Fi.
    daemon.app("exit 0", network="wifi")
    daemon.configure('background_floor = "1ms"\nsettle = "0s"\nunknown_conditions = "unmet"\n')
    daemon.start()
    waiting = daemon.run()
    assert [hold["name"] for hold in waiting.first["event"]["holds"]] == ["network"]
    refresh = daemon.refresh(anyway=True)
    assert (refresh["trigger"], refresh["outcome"]) == ("manual", "new_data")
    # The call that waited is served by it.
    assert finished(waiting)["id"] == refresh["id"]
    assert daemon.run().first["event"]["kind"] == "held"


def test_a_refresh_against_constraints_has_no_other_trigger(daemon):
    daemon.app("exit 0")
    daemon.start()
    with fails("org.varlink.service.InvalidParameter", parameter="trigger"):
        daemon.refresh(anyway=True, trigger="push")


def test_the_running_refresh_that_another_one_follows_is_named(daemon):
    go = daemon.pipe("go")
    daemon.app(f"read _ < {go}; exit 100")
    daemon.start()
    running = daemon.run()
    follower = daemon.run()
    assert follower.first["event"] == {"kind": "queued", "id": running.first["event"]["id"]}
    go.let_go()


def test_a_push_is_tried_by_hand_with_its_payload(daemon):
    daemon.app("printf '%s %s %s' $REFRESH_TRIGGER $REFRESH_CONTENT_ID \"$(cat)\"")
    daemon.start()
    payload = '{"content-id":42,"text":"three mails"}'
    refresh = daemon.refresh(trigger="push", payload=payload)
    assert refresh["tasks"][0]["message"] == f"push 42 {payload}"
    # The next run has none.
    assert daemon.refresh(trigger="push")["tasks"][0]["message"].split() == ["push"]
    with fails("org.varlink.service.InvalidParameter", parameter="payload"):
        daemon.refresh(payload=payload)
    with fails("org.refreshd.App.InvalidPayload"):
        daemon.refresh(trigger="push", payload="no JSON")


def test_each_of_two_payloads_gets_a_refresh(daemon):
    """A refresh delivers one payload; the next refresh delivers the second caller's."""
    go = daemon.pipe("go")
    daemon.app(f"read _ < {go}; printf '%s' \"$(cat)\"")
    daemon.start()
    running = daemon.run()
    payloads = ['{"content-id":1}', '{"content-id":2}']
    calls = [daemon.run(trigger="push", payload=payload) for payload in payloads]
    for _ in range(3):
        go.let_go()
    finished(running)
    assert [finished(call)["tasks"][0]["message"] for call in calls] == payloads


def test_refreshctl_takes_the_payload_from_a_pipe(daemon):
    daemon.app("cat")
    daemon.start()
    command = [REFRESHCTL, "run", TODO, "--socket", daemon.socket, "--trigger", "push", "--payload", "-"]
    done = subprocess.run(command, input='{"a":1}\n', capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stdout) == (0, 'task0: {"a":1}\n')
    refused = subprocess.run([*command[:5], "--payload", "{}"], capture_output=True, text=True, timeout=30)
    assert refused.returncode == 64 and "write --trigger push" in refused.stderr
