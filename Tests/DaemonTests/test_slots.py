"""The limits on concurrent refreshes, for all users and for each one."""

import os

import pytest

from daemon import HURRY, MAIL, TODO, finished

NOTES = "org.example.notes"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root's daemon has apps of several users")


def test_a_user_without_a_free_slot_holds_up_nobody_else(daemon):
    events = daemon.pipe("events")
    # Each task has its own pipe: from a shared pipe, a task could read a later task's line.
    go = {id: daemon.pipe(f"go-{id}") for id in (TODO, NOTES, MAIL)}
    daemon.configure(HURRY + "max_concurrent = 3\nmax_concurrent_per_user = 1\n")
    for id, owner in [(TODO, "root"), (NOTES, "root"), (MAIL, "nobody")]:
        daemon.app(f"echo {id} > {events}; read _ < {go[id]}; exit 100", id=id, owner=owner, directory="/")
    daemon.start()
    first = daemon.run(TODO)
    assert events.line() == TODO
    waiting = daemon.run(NOTES)
    other = daemon.run(MAIL)
    assert events.line() == MAIL
    (hold,) = daemon.show(NOTES)["holds"]
    assert hold["name"] == "concurrency" and "max_concurrent_per_user" in hold["remedy"]
    for id in (TODO, MAIL):
        go[id].let_go()
    assert finished(first)["outcome"] == finished(other)["outcome"] == "no_data"
    assert events.line() == NOTES
    go[NOTES].let_go()
    assert finished(waiting)["outcome"] == "no_data"


def test_no_user_has_the_last_slot(daemon):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.configure(HURRY + "max_concurrent = 1\n")
    for id in (TODO, NOTES):
        daemon.app(f"echo {id} > {events}; read _ < {go}; exit 100", id=id, owner="root", directory="/")
    daemon.app("exit 100", id=MAIL, owner="nobody", directory="/")
    daemon.start()
    hanging = daemon.run(TODO)
    assert events.line() == TODO
    waiting = daemon.run(NOTES)
    assert finished(daemon.run(MAIL))["outcome"] == "no_data"
    assert [hold["name"] for hold in daemon.show(NOTES)["holds"]] == ["concurrency"]
    for stream, next in [(hanging, NOTES), (waiting, None)]:
        go.let_go()
        assert finished(stream)["outcome"] == "no_data"
        assert next is None or events.line() == next
