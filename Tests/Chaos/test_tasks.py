"""A task does its worst; another user's calls and refreshes go on."""

from client import as_user
from stand import BAD, CULPRIT


def begin(stand):
    with as_user(CULPRIT):
        return stand.daemon.run(BAD)


def test_endless_output(stand):
    stand.start("exec yes ''", deadline="1min")
    begin(stand)
    measured = stand.measure()
    measured.within_bounds()
    stand.holds_afterwards()


def test_one_line_without_an_end(stand):
    stand.start("exec tr '\\0' x < /dev/zero", deadline="1min")
    begin(stand)
    measured = stand.measure()
    measured.within_bounds()
    stand.holds_afterwards()


def test_children_without_number(stand):
    stand.start("while :; do sleep 0.01 & done", deadline="1min")
    begin(stand)
    measured = stand.measure()
    measured.within_bounds()
    stand.holds_afterwards()
