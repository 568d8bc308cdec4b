"""The limits on concurrent refreshes, for all users and for each one."""

import os

import pytest

from daemon import HURRY, MAIL, TODO, finished

NOTES = "org.example.notes"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's daemon has apps of several users")
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
