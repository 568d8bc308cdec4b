"""A task does its worst; another user's calls and refreshes go on."""

import pytest

from client import as_user
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
    assert stand.daemon.show(BAD)["running"], "the task is no fault any more"
    measured.within_bounds()
    stand.holds_afterwards()
