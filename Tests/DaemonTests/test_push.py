"""Pushes over the socket: when an app receives which push, and what survives a crash."""

import contextlib
import json

import pytest

from attaching import Attached
from client import fails
from daemon import LAUNCHER, MAIL, TODO
from pushing import TELL, counts, deliver, delivered, payload, push, start, waits, why  # noqa: F401

# Delivery.


def test_a_push_wakes_the_app_with_its_payload(daemon, delivered):
    start(daemon, delivered)
    text = payload(42, title="näher 🛰️")
    assert push(daemon, text) == {"fate": "queued", "waiting": 1}
    assert delivered.line() == f"push 42 {text}"
    daemon.wait_for_output("1-1 finished")
    (refresh,) = daemon.history()
    assert (refresh["trigger"], refresh["content_id"], refresh["merged"]) == ("push", "42", 0)
    assert why(daemon)["pushes"] == []
    assert counts(daemon) == {"queued": 1, "delivered": 1}


def test_every_task_of_the_app_receives_the_push(daemon, delivered):
    """Also a task that runs after another."""
    first = {"name": "first", "shell": TELL.format(events=delivered)}
    daemon.app(first, TELL.format(events=delivered), {**first, "name": "last", "after": ["first"]})
    daemon.start()
    push(daemon, payload("a"))
    assert delivered.lines(3) == [f"push a {payload('a')}"] * 3


def test_pushes_that_come_during_a_refresh_are_delivered_after_it_in_order(daemon, delivered):
    go = daemon.pipe("go")
    daemon.app(TELL.format(events=delivered) + f"; read _ < {go}")
    daemon.start()
    push(daemon, payload(0))
    assert delivered.line().startswith("push 0")
    assert push(daemon, payload(1)) == {"fate": "queued", "waiting": 1}
    assert push(daemon, payload(2)) == {"fate": "queued", "waiting": 2}
    assert push(daemon, payload(1, title="newer")) == {"fate": "merged", "waiting": 2}
    # A running refresh keeps its push.
    assert push(daemon, payload(0)) == {"fate": "queued", "waiting": 3}
    assert waits(daemon) == [("1", "ready"), ("2", "turn"), ("0", "turn")]
    for line in (f"push 1 {payload(1, title='newer')}", f"push 2 {payload(2)}", f"push 0 {payload(0)}"):
        go.let_go()
        assert delivered.line() == line
    go.let_go()
    daemon.wait_for_output("1-4 finished")
    assert [(refresh["content_id"], refresh["merged"]) for refresh in daemon.history()] == [
        ("0", 0), ("2", 0), ("1", 1), ("0", 0),
    ]
    assert counts(daemon) == {"queued": 4, "merged": 1, "delivered": 4}


def test_a_watch_shows_what_became_of_each_push(daemon, delivered):
    go = daemon.pipe("go")
    daemon.app(TELL.format(events=delivered) + f"; read _ < {go}")
    daemon.start()
    push(daemon, payload(0))
    assert delivered.line().startswith("push 0")
    with contextlib.closing(daemon.client.stream("Manager.Watch", apps=[TODO])) as watch:
        seen = (event for answer in watch if (event := answer["event"])["kind"] == "push")
        for text in payload(1), payload(1, title="newer"):
            push(daemon, text)
        assert [(event["content_id"], event["fate"]) for event in (next(seen), next(seen))] == [
            ("1", "queued"), ("1", "merged"),
        ]  # fmt: skip
    go.let_go()
    go.let_go()


def test_an_attached_app_is_handed_the_push(daemon):
    daemon.app()
    daemon.start()
    app = Attached(daemon)
    push(daemon, payload("x"))
    performed = app.perform()
    assert (performed["trigger"], performed["payload"], performed["content_id"]) == ("push", payload("x"), "x")


def test_a_push_without_content_available_reaches_attached_processes(daemon, delivered):
    start(daemon, delivered)
    app = Attached(daemon)
    for text in ('{"aps":{"content-available":0},"content-id":7}', '{"title":"hello"}'):
        assert push(daemon, text) == {"fate": "told", "waiting": 0}
    assert app.next("push") == {
        "kind": "push", "payload": '{"aps":{"content-available":0},"content-id":7}', "content_id": "7"
    }
    assert app.next("push") == {"kind": "push", "payload": '{"title":"hello"}'}
    assert daemon.history() == []
    assert counts(daemon) == {"told": 2}


def test_watchers_see_pushes_without_their_payloads(daemon, delivered):
    start(daemon, delivered)
    stream = daemon.client.stream("Manager.Watch", apps=[TODO])
    push(daemon, payload(42))
    push(daemon, '{"t":1}')
    events = []
    while len(events) < 5:
        event = next(stream)["event"]
        # The first push makes the daemon watch the conditions that urgencies ask for.
        if event["kind"] != "condition_changed":
            events.append(event)
    assert [event["kind"] for event in events if event["kind"] != "push"] == ["started", "task_ended", "ended"]
    queued, delivered = [event for event in events if event["kind"] == "push"]
    assert events[0] == queued
    del queued["at_us"], delivered["at_us"]
    assert queued == {"kind": "push", "app": TODO, "content_id": "42", "fate": "queued"}
    assert delivered == {"kind": "push", "app": TODO, "fate": "told"}
    assert "content-available" not in json.dumps(events)


# The limit.


def test_over_the_limit_pushes_wait_in_order_and_newer_ones_take_the_place_of_older_ones(daemon, delivered):
    # The last push of a window is kept for an urgent one.
    start(daemon, delivered, push_burst=3, push_per_hour=1)
    for content in (1, 2):
        push(daemon, payload(content))
        assert delivered.line().startswith(f"push {content}")
    daemon.wait_for_output("1-2 finished")
    over = push(daemon, payload(3))
    assert (over["fate"], over["waiting"]) == ("queued", 1)
    opened = daemon.history()[1]["started_us"] + 3 * 3600 * 1_000_000
    assert abs(over["earliest_us"] - opened) < 1_000_000
    assert push(daemon, payload(4))["waiting"] == 2
    assert push(daemon, payload(3, title="newer"))["fate"] == "merged"
    assert waits(daemon) == [("3", "limit"), ("4", "turn")]
    refusals = why(daemon)
    assert refusals["push_limit"] == {"per_hour": 1, "burst": 3, "used": 2}
    assert refusals["pushes"][0]["merged"] == 1
    assert daemon.show()["due_trigger"] == "push"
    # A manual refresh is no push: it does not count, and does not deliver a waiting push.
    assert daemon.refresh()["trigger"] == "manual"
    assert delivered.line().startswith("manual none")
    assert waits(daemon) == [("3", "limit"), ("4", "turn")]


def test_the_limit_and_what_waits_outlive_a_restart(daemon, delivered):
    start(daemon, delivered, push_burst=3, push_per_hour=1)
    for content in (1, 2):
        push(daemon, payload(content))
        delivered.line()
    daemon.wait_for_output("1-2 finished")
    for content in (3, 4):
        earliest = push(daemon, payload(content))["earliest_us"]
    for again in (daemon.stop, daemon.kill):
        again()
        daemon.start()
        assert [content for content, _ in waits(daemon)] == ["3", "4"]
        assert why(daemon)["push_limit"]["used"] == 2
        assert push(daemon, payload(4))["earliest_us"] == pytest.approx(earliest, abs=1_000_000)
    assert delivered.lines_so_far() == []
    daemon.app(TELL.format(events=delivered), push_burst=5, push_per_hour=1)
    daemon.call("Manager.Reload")
    assert [delivered.line()[:6] for _ in range(2)] == ["push 3", "push 4"]


def test_the_oldest_of_too_many_is_dropped_and_reported(daemon, delivered):
    """In the history, by `why`, in the journal and to attached processes; the counts add up."""
    start(daemon, delivered)
    app = Attached(daemon)
    push(daemon, payload(0))
    performed = app.next("perform")
    results = deliver(daemon, *[{"app": TODO, "payload": payload(number)} for number in range(1, 64)])
    assert results == [{"fate": "queued"}] * 63
    # The push that a refresh delivers counts too.
    assert push(daemon, payload(65)) == {"fate": "queued", "waiting": 63}
    dropped = app.next("push_dropped")
    assert dropped["content_id"] == "1" and "64" in dropped["message"]
    # The push of the running refresh is none of them.
    assert performed["content_id"] == "0"
    daemon.wait_for_output(f"{TODO}: a push with content 1 is dropped")
    assert why(daemon)["pushes"][0]["content_id"] == "2"
    (line,) = why(daemon)["pushes_dropped"]
    assert (line["content_id"], line["merged"]) == ("1", 0)
    assert line["dropped_us"] > line["arrived_us"]
    assert daemon.call("Manager.History", app=TODO)["pushes_dropped"] == [line]
    assert counts(daemon) == {"queued": 65, "dropped": 1}
    daemon.kill()
    daemon.start()
    assert why(daemon)["pushes_dropped"] == [line]


# Holds.


def test_an_app_that_its_user_has_ended_is_not_woken(daemon, delivered):
    start(daemon, delivered)
    daemon.tell("terminated")
    push(daemon, payload(1))
    assert waits(daemon) == [("1", "terminated")]
    daemon.restart()
    assert waits(daemon) == [("1", "terminated")]
    daemon.tell("launched")
    assert delivered.line().startswith("push 1")


def test_an_app_that_crashed_is_woken(daemon, delivered):
    start(daemon, delivered)
    daemon.lease("launched").close()
    push(daemon, payload(1))
    assert delivered.line().startswith("push 1")


HOLDS = {
    "disabled": ("Manager.Disable", "Manager.Enable", {"apps": [TODO]}),
    "paused": ("Manager.Pause", "Manager.Resume", {}),
}


@pytest.mark.parametrize("hold, release, parameters", HOLDS.values(), ids=HOLDS)
def test_pushes_wait_while_the_user_holds_the_app(daemon, delivered, hold, release, parameters):
    start(daemon, delivered)
    daemon.call(hold, **parameters)
    for text in (payload(1), payload(2), payload(1)):
        push(daemon, text)
    assert [push["content_id"] for push in why(daemon)["pushes"]] == ["1", "2"]
    daemon.restart()
    assert [push["content_id"] for push in why(daemon)["pushes"]] == ["1", "2"]
    daemon.call(release, **parameters)
    assert [delivered.line()[:6] for _ in range(2)] == ["push 1", "push 2"]


def test_pushes_wait_for_login(daemon, delivered):
    start(daemon, delivered)
    daemon.tell("logout")
    push(daemon, payload(1))
    daemon.tell("login")
    assert delivered.line().startswith("push 1")


# A push is delivered once.


def test_a_message_is_taken_once(daemon, delivered):
    """An id counts for its app, also after SIGKILL, and whatever became of the first push."""
    start(daemon, delivered)
    message = {"app": TODO, "payload": payload(1), "id": "ntfy/home/a"}
    silent = {"app": TODO, "payload": '{"t":1}', "id": "ntfy/home/b"}
    assert deliver(daemon, message, silent, message) == [{"fate": "queued"}, {"fate": "told"}, {"fate": "known"}]
    daemon.kill()
    daemon.start()
    assert delivered.line().startswith("push 1")
    assert deliver(daemon, silent, message) == [{"fate": "known"}] * 2
    assert push(daemon, payload(2), id="ntfy/home/a")["fate"] == "known"
    # The same payload with another id, or with none, is another message.
    assert deliver(daemon, {**message, "id": "ntfy/home/c"}, {"app": TODO, "payload": payload(9)}) == [
        {"fate": "queued"}, {"fate": "queued"},
    ]
    daemon.settle()
    assert counts(daemon)["known"] == 3


def test_an_id_that_the_source_uses_again_is_of_another_message(daemon, delivered):
    start(daemon, delivered)
    message = {"app": TODO, "payload": payload(1), "id": "mqtt/broker/1/f00"}
    assert deliver(daemon, message) == [{"fate": "queued"}]
    assert delivered.line().startswith("push 1")
    daemon.wait_for_output("1-1 finished")
    assert deliver(daemon, {**message, "is_new": True}) == [{"fate": "queued"}]
    assert delivered.line().startswith("push 1")
    assert deliver(daemon, message) == [{"fate": "known"}]


def test_the_id_of_one_app_is_not_that_of_another(daemon, delivered):
    daemon.app("exit 100", id=MAIL)
    start(daemon, delivered)
    for app in (TODO, MAIL):
        assert deliver(daemon, {"app": app, "payload": payload(), "id": "x"}) == [{"fate": "queued"}]


def test_what_was_answered_outlives_a_crash(daemon, delivered):
    """SIGKILL right after the reply, again and again: each push is delivered, and none is lost."""
    start(daemon, delivered, push_burst=100, push_per_hour=3600)
    for number in range(5):
        deliver(daemon, *[{"app": TODO, "payload": payload(f"{number}-{more}")} for more in range(4)])
        daemon.kill()
        daemon.start()
    daemon.tell("launched")
    expected = {f"{number}-{more}" for number in range(5) for more in range(4)}
    # With the first delivery refreshd knows network and power; until then all pushes wait for these.
    seen = {delivered.line().split()[1]}
    # A push whose refresh two crashes in a row have cut short waits for its back-off, a minute or more.
    late = {content for content, hold in waits(daemon) if hold == "retry"}
    while not seen >= expected - late:
        seen.add(delivered.line().split()[1])
    assert seen <= expected
    daemon.wait_for_output("finished")


def test_a_push_under_delivery_outlives_a_crash(daemon, delivered):
    """A refresh that survived the daemon has delivered its push; the push of a lost refresh is delivered again."""
    go = daemon.pipe("go")
    daemon.app(TELL.format(events=delivered) + f"; read _ < {go}", push_burst=1, push_per_hour=1)
    daemon.start()
    push(daemon, payload(1))
    assert delivered.line() == f"push 1 {payload(1)}"
    daemon.kill()
    daemon.start()
    if LAUNCHER == "spawn":
        # The push has already used up the limit.
        assert delivered.line() == f"push 1 {payload(1)}"
    go.let_go()
    daemon.wait_for_output(" finished")
    ends = [(refresh["outcome"], refresh["content_id"]) for refresh in daemon.history()]
    assert ends == [("new_data", "1")] + [("failed", "1")] * (LAUNCHER == "spawn")
    assert why(daemon)["pushes"] == [] and why(daemon)["push_limit"]["used"] == 1
    assert counts(daemon) == {"delivered": 1}
    assert delivered.lines_so_far() == []


def test_a_refresh_that_fails_for_a_time_gets_its_push_again(daemon, delivered):
    failed = daemon.directory / "failed"
    daemon.app(TELL.format(events=delivered) + f"; test -e {failed} || {{ : > {failed}; exit 75; }}")
    daemon.start()
    push(daemon, payload(1))
    delivered.line()
    daemon.wait_for_output("1-1 failed")
    assert waits(daemon) == [("1", "retry")]
    assert daemon.show()["due_trigger"] == "push"


# Secrets.


def test_a_payload_reaches_the_app_and_nobody_else(daemon, delivered):
    start(daemon, delivered, push_burst=1, push_per_hour=1)
    secret = "5ECRET"
    push(daemon, payload(1, token=secret))
    assert secret in delivered.line()
    daemon.wait_for_output("1-1 finished")
    push(daemon, payload(2, token=secret))
    with fails("org.refreshd.App.InvalidPayload") as refused:
        push(daemon, '{"aps":"%s"}' % secret)
    said = [refused, daemon.status(), daemon.show(), why(daemon), daemon.call("Manager.History", app=TODO), daemon.written()]
    assert secret not in json.dumps(said)
