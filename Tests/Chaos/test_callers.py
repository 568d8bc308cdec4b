"""A user asks too much over the socket; another user's calls and refreshes go on."""

import contextlib
import pwd

import pytest

FAULTS = [
    "watches", "silence", "forecasts", "timelines", "repetitions", "runs", "lists", "oneways", "signals", "reasons",
    "transfers", "priorities",
]  # fmt: skip


def test_without_a_fault_the_bounds_hold(stand):
    stand.start()
    stand.measure().within_bounds()
    stand.holds_afterwards()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_caller_costs_only_itself(stand, fault):
    stand.start()
    with stand.culprit(fault):
        measured = stand.measure()
    measured.within_bounds()
    stand.holds_afterwards()


def test_four_users_do_not_lock_root_out(stand):
    stand.start()
    with contextlib.ExitStack() as culprits:
        for name in "daemon", "bin", "mail", "backup":
            culprits.enter_context(stand.culprit("watches", uid=pwd.getpwnam(name).pw_uid))
        assert stand.daemon.status()["apps"] == 3
        measured = stand.measure()
    measured.within_bounds()
    stand.holds_afterwards()
