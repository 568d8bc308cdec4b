"""While one user asks for much, another waits little longer than beside a program of that user that asks for nothing.

A loop takes as much of the processors as the fault does, so what other load there is counts on both sides.
"""

import contextlib
import pathlib
import pwd

import pytest

from client import answers, as_user
from daemon import HURRY, finished
from leases import leased  # noqa: F401
from processes import status
from stand import BAD, CALLS, CULPRIT, MEGABYTES, SLACK, START, megabytes, p99, select_for
from waiting import Bound

SECONDS = 2.5
"""How long the fault lasts, and the loop before it and after it."""

LATER = START if SLACK == 1 else 4 * START
"""How much later than beside a loop a start may come, in seconds."""

TIMES = 3 if SLACK == 1 else 9
"""How many times as long as beside a loop a call may take."""

APPS = 3000 if SLACK == 1 else 1000
"""How many apps a user has who asks for their plans."""

LEAST = 0.05
"""A shorter wait is nobody's trouble, so the loop's counts as this, in seconds."""

ASKED = [*CALLS, "Forecast"]


def beside(stand, fault):
    with stand.culprit(fault):
        return stand.measure(SECONDS, ASKED)


def beside_a_task(stand):
    """Measures while the culprit's task is starting or running."""
    with as_user(CULPRIT):
        stream = stand.daemon.run(BAD)
    measured = stand.measure(SECONDS, ASKED)
    assert stand.daemon.show(BAD)["running"], "the task has ended, so the fault is over"
    stand.daemon.call("Manager.Disable", apps=[BAD])
    finished(stream)
    stand.daemon.call("Manager.Enable", apps=[BAD])
    return measured


def excess(stand, fault=None):
    """The bounds that do not hold beside the fault, or the culprit's task, in words; empty if all hold."""
    loops = [beside(stand, "loop")]
    measured = beside(stand, fault) if fault else beside_a_task(stand)
    loops.append(beside(stand, "loop"))
    print(f"{fault or 'task'}: {measured}", *loops, sep="\n  ")
    assert not measured.failures, measured.failures[:3]
    beyond = []
    for kind in "status", "asking", "planning", "changing":
        control = max(LEAST, *(p99(getattr(loop, kind) or [0]) for loop in loops))
        if not getattr(measured, kind) or p99(getattr(measured, kind)) > TIMES * control:
            beyond.append(f"{kind} over {TIMES * control * 1e3:.0f} ms")
    control = max(p99(loop.lateness) for loop in loops)
    if not measured.lateness or p99(measured.lateness) > control + LATER:
        beyond.append(f"starts over {(control + LATER) * 1e3:.0f} ms late")
    if measured.megabytes > MEGABYTES * (1 if SLACK == 1 else 2):
        beyond.append(f"{measured.megabytes:.0f} MB")
    return f"{', '.join(beyond)}: {measured}" if beyond else ""


def holds(stand, fault=None):
    # A second look, because another program may have come between.
    assert not excess(stand, fault) or not (words := excess(stand, fault)), words
    stand.holds_afterwards()


@pytest.mark.bound(60)
@pytest.mark.parametrize("fault", ["changes", "bombs", "churn", "hang_ups", "pushes", "plans", "descriptors"])
def test_a_user_waits_little_longer_than_beside_a_loop(stand, fault):
    stand.start(more=APPS if fault == "plans" else 0)
    holds(stand, fault)


@pytest.mark.bound(60)
def test_a_user_does_not_wait_for_the_slot_of_another(stand):
    stand.daemon.configure(HURRY + "max_concurrent = 1\n")
    stand.start("exec sleep 1000", deadline="10min", grace="0s")
    holds(stand)


@pytest.mark.bound(60)
def test_a_user_does_not_wait_for_the_owner_of_a_lease(stand, leased):  # noqa: F811
    stand.start({"name": "load", "run": [str(leased)]}, deadline="10min", grace="0s")
    holds(stand)


def fill(daemon, app):
    """Enqueues as many transfers as the bounds admit to one of four users."""
    for first in range(0, 5000, 500):
        transfers = [
            {"url": f"http://127.0.0.{number % 250 + 1}/{number}", "path": f"/tmp/never/{number}", "network": "wifi",
             "description": "x" * 1000}
            for number in range(first, first + 500)
        ]  # fmt: skip
        with contextlib.closing(daemon.client.send(("org.refreshd.Transfers.Enqueue", {"app": app, "transfers": transfers}))) as link:
            if "error" in (reply := answers(link)[0]):
                assert reply["error"] == "org.refreshd.Transfers.QueueFull", reply
                break


@pytest.mark.bound(120)
def test_full_queues_and_unread_replies_stay_small(stand):
    """The memory that the connections of four users took is given back when they are gone."""
    daemon, apps = stand.daemon, {pwd.getpwnam(name).pw_uid: f"org.example.{name}" for name in ("bin", "sys", "mail", "lp")}
    for uid, app in apps.items():
        daemon.app("true", id=app, owner=str(uid), directory="/")
    stand.start()
    for uid, app in apps.items():
        with as_user(uid):
            fill(daemon, app)
    kept, resident = megabytes(daemon.pid), status(daemon.pid, "VmRSS")
    # From now on the kernel counts the most that is resident (proc_pid_clear_refs(5)).
    pathlib.Path(f"/proc/{daemon.pid}/clear_refs").write_text("5")
    with contextlib.ExitStack() as stack:
        for uid, app in apps.items():
            stack.enter_context(stand.culprit("hoards", app, uid))
        measured = stand.measure(SECONDS)
    assert not measured.failures, measured.failures[:3]
    most = kept + (status(daemon.pid, "VmHWM") - resident) / 1024
    print(f"{kept:.0f} MB, then up to {most:.0f} MB: {measured}")
    assert most <= MEGABYTES
    bound = Bound()
    while megabytes(daemon.pid) > kept + 4:
        assert bound.left, f"{megabytes(daemon.pid):.0f} MB, and {kept:.0f} MB before"
        select_for(0.05)
