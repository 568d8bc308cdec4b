"""A disk that does not answer: what runs ends in time, everybody is answered, and nothing starts until it is saved.

hung.c has the writes of the daemon's store wait.
"""

import os
import signal
import time

import pytest

from client import answers, fails
from daemon import MAIL, TODO
from waiting import Bound, wait_for

# A call that does not wait for the disk is answered within this time, in seconds, beside a busy machine.
SOON = 2


class Disk:
    def __init__(self, daemon, library):
        self.daemon = daemon
        self.mark = daemon.directory / "hung"
        self.environment = {
            "LD_PRELOAD": str(library), "HUNG_FILE": str(self.mark), "HUNG_DIRECTORY": str(daemon.state),
        }  # fmt: skip

    def hang(self):
        """Makes the disk hang during a commit, and waits until the daemon reports it."""
        self.mark.touch()
        self.daemon.tell("launched", MAIL)
        self.daemon.tell("foreground", MAIL)
        self.daemon.wait_for_output("nothing new starts until it answers")

    def answer(self):
        self.mark.unlink()
        self.daemon.wait_for_output("the store can be written again")


@pytest.fixture
def disk(daemon, preload):
    daemon.app("exit 100", id=MAIL)
    return Disk(daemon, preload("hung"))


def in_time(call):
    """The result of a call, which must not wait for the disk."""
    begin = time.monotonic()
    result = call()
    took = time.monotonic() - begin
    print(f"{took * 1000:.1f} ms")
    assert took < SOON
    return result


def test_a_running_task_is_ended_in_time(daemon, disk):
    pids = daemon.pipe("pids")
    daemon.app(f"trap '' TERM URG; echo $$ > {pids}; while :; do sleep 1; done", deadline="6s", grace="1s")
    daemon.start(environment=disk.environment)
    stream = daemon.run()
    process = os.pidfd_open(int(pids.line()))
    try:
        disk.hang()
        daemon.wait_for_output("still running at its deadline")
        wait_for([process], "the end of the task", within=10)
    finally:
        os.close(process)
    daemon.wait_for_output("refresh 1-1 failed after")
    assert in_time(daemon.show).get("last", {}).get("stop_reason") == "deadline"
    disk.answer()
    assert daemon.history()[0]["stop_reason"] == "deadline"
    stream.close()


def test_questions_are_answered_and_changes_are_refused(daemon, disk):
    daemon.app("exit 100", background_interval="5h")
    daemon.start(environment=disk.environment)
    daemon.refresh()
    disk.hang()
    assert "Nothing new starts" in daemon.notices.wait("STATUS")["STATUS"]
    problem = in_time(daemon.status)["store"]["problem"]
    assert problem.startswith("cannot save to ") and "has not answered for 2 s" in problem
    assert in_time(daemon.show)["background_interval"]["in_force"] == "5h"
    assert {app["id"] for app in in_time(lambda: daemon.call("Manager.List"))["apps"]} == {TODO, MAIL}
    why = in_time(lambda: daemon.call("Manager.Why", app=TODO))["why"]
    assert why["verdict"] == "not_due" and "has not answered" in why["past_problem"] and not why["past"]
    with fails("org.refreshd.Manager.NotReadable"):
        in_time(daemon.history)

    with fails("org.refreshd.NotStored") as refused:
        daemon.call("Manager.Disable", apps=[TODO])
    assert "has not answered" in refused["problem"]
    with fails("org.refreshd.NotStored"):
        in_time(lambda: daemon.call("Manager.Set", apps=[TODO], background_interval="3h"))
    with fails("org.refreshd.NotStored"):
        in_time(lambda: daemon.call("Manager.Pause"))
    with fails("org.refreshd.NotStored"):
        in_time(lambda: daemon.tell("logout"))
    with fails("org.refreshd.NotStored"):
        in_time(lambda: daemon.call("App.Push", app=TODO, payload='{"aps":{"content-available":1}}'))
    assert in_time(lambda: daemon.tell("foreground")) == "foreground"

    disk.answer()
    assert "Nothing" not in daemon.notices.wait("STATUS")["STATUS"]
    assert "problem" not in daemon.status()["store"]
    for _ in range(2):
        view = daemon.show()
        assert view["background_interval"]["in_force"] == "5h" and view["phase"] == "foreground"
        assert not daemon.call("Manager.Why", app=TODO)["why"]["is_disabled"] and "pause" not in daemon.status()
        daemon.settle()
        daemon.kill()
        daemon.start(environment=disk.environment)
    daemon.call("Manager.Disable", apps=[TODO])


def test_nothing_starts_until_it_is_saved(daemon, disk):
    events = daemon.pipe("events")
    daemon.app(f'echo "$(($REFRESH_DEADLINE - $(date +%s)))" > {events}', deadline="30s")
    daemon.start(environment=disk.environment)
    disk.hang()
    connection = daemon.client.send(("org.refreshd.Manager.Run", {"app": TODO}))
    bound = Bound()
    while not (running := in_time(lambda: daemon.call("Manager.Why", app=TODO))["why"].get("running")):
        assert bound.left
    assert running["is_awaiting_store"] is True
    assert events.lines_so_far() == []
    disk.answer()
    assert int(events.line()) >= 25, "the whole deadline is left"
    connection.close()


def test_the_daemon_ends_all_the_same(daemon, disk):
    pids = daemon.pipe("pids")
    daemon.app(f"echo $$ > {pids}; exec sleep 1000")
    daemon.start(environment=disk.environment)
    stream = daemon.run()
    process = os.pidfd_open(int(pids.line()))
    try:
        disk.hang()
        daemon.signal(signal.SIGTERM)
        wait_for([process], "the end of the task")
        assert daemon.wait() == 0
    finally:
        os.close(process)
        stream.close()
    daemon.wait_for_output("stopping without the last changes")
    disk.mark.unlink()
    daemon.start(environment=disk.environment)
    assert daemon.history()[-1]["outcome"] == "failed"


def test_a_refresh_that_was_refused_is_not_scheduled(daemon, disk):
    daemon.app("exit 100")
    daemon.start(environment=disk.environment)
    disk.hang()
    later = int(time.time() + 3600) * 1_000_000
    with fails("org.refreshd.NotStored"):
        daemon.call("Manager.Schedule", app=TODO, earliest_us=later)
    assert daemon.show()["holds"][0]["name"] == "never", "nothing is changed"
    disk.answer()
    daemon.settle()
    assert daemon.show()["holds"][0]["name"] == "never"


def test_changes_in_the_first_moment_of_a_hang_are_taken_back(daemon, disk):
    daemon.app("exit 100", background_interval="5h")
    daemon.start(environment=disk.environment)
    daemon.refresh()
    daemon.call("Manager.Set", apps=[TODO], background_interval="4h")
    (transfer,) = daemon.call(
        "Transfers.Enqueue", app=TODO,
        transfers=[{"url": "http://127.0.0.1:9/file", "path": str(daemon.directory / "file"), "network": "wifi"}],
    )["ids"]  # fmt: skip
    before = [daemon.show(), daemon.call("Transfers.List")]
    changes = [
        ("Manager.Skip", {"apps": [TODO]}), ("Manager.Reset", {"apps": [TODO]}),
        ("Transfers.Cancel", {"ids": [transfer]}), ("Transfers.Pause", {"ids": [transfer]}),
    ]  # fmt: skip
    disk.mark.touch()
    clients = [daemon.client.send((f"org.refreshd.{method}", fields)) for method, fields in changes]
    for client in clients:
        assert answers(client)[0]["error"] == "org.refreshd.NotStored"
        client.close()
    assert [daemon.show(), daemon.call("Transfers.List")] == before
    disk.answer()
    daemon.settle()
    assert [daemon.show(), daemon.call("Transfers.List")] == before


def test_a_start_that_waited_for_the_disk_is_as_long_as_its_processes(daemon, disk):
    daemon.app("exit 0")
    daemon.start(environment=disk.environment)
    disk.hang()
    connection = daemon.client.send(("org.refreshd.Manager.Run", {"app": TODO}))
    bound = Bound()
    while not daemon.call("Manager.Why", app=TODO)["why"].get("running"):
        assert bound.left
    with fails("org.refreshd.NotStored"):
        daemon.call("Manager.Disable", apps=[MAIL])
    begin = time.time()
    disk.answer()
    assert answers(connection)
    connection.close()
    refresh = daemon.history()[0]
    # The wall clock of the daemon may differ by the tenth of a second after which a step counts.
    assert refresh["started_us"] >= (begin - 0.5) * 1_000_000, "it starts when its first process does"
    assert refresh["duration_us"] <= (time.time() - begin + 0.5) * 1_000_000, "the wait is no part of it"
