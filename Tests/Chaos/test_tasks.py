"""A task does its worst; another user's calls and refreshes go on."""

import shutil

import pytest

from client import as_user
from processes import children
from stand import BAD, CULPRIT

FAULTS = {
    "endless output": "exec yes ''",
    "one line without an end": "exec tr '\\0' x < /dev/zero",
    "children without number": "while :; do sleep 0.01 & done",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_task_costs_only_its_app(stand, fault):
    stand.start(FAULTS[fault], deadline="1min")
    with as_user(CULPRIT):
        stand.daemon.run(BAD)
    measured = stand.measure()
    assert stand.daemon.show(BAD)["running"], "the task has ended, so the fault is over"
    measured.within_bounds()
    stand.holds_afterwards()


def test_processes_that_leave_one_another(stand, preload):
    """Each forks, and ends; its child leaves the session. They take up no process ids, and end with their task."""
    library = shutil.copy(preload("chain"), stand.daemon.directory)
    stand.start(f"for i in 1 2 3 4; do LD_PRELOAD={library} /bin/true & done; exec sleep 1000", deadline="3s", grace="0s")
    with as_user(CULPRIT):
        stream = stand.daemon.run(BAD)
    most = 0

    def look():
        nonlocal most
        most = max(most, len(children(stand.daemon.pid)))

    measured = stand.measure(look=look)
    measured.within_bounds()
    assert 0 < most < 2000, f"{most} processes wait to be reaped"
    stand.daemon.wait_for_output("still running at its deadline")
    stand.measure().within_bounds()
    assert [answer["event"] for answer in stream][-1]["refresh"]["stop_reason"] == "deadline"
    assert children(stand.daemon.pid) == []
    stand.holds_afterwards()
