"""A daemon with nothing to do does not wake."""

import os

import pytest

from daemon import TODO
from processes import status, threads
from waiting import Bound

# The thread of the store ends a second after its last work.
SETTLED = 2


@pytest.mark.parametrize("apps", [1, 100])
def test_an_idle_daemon_has_one_thread_and_does_not_wake(daemon, apps):
    """With apps that are due in an hour, a lease, and a silent client."""
    for number in range(apps):
        daemon.app({"run": ["/bin/true"]}, id=f"org.example.app{number}", foreground_interval="1h")
    daemon.app("exit 100", background_interval="1h")
    daemon.start()
    daemon.refresh()
    daemon.lease("launched")
    with daemon.client.connect():
        assert not daemon.notices.is_waiting(SETTLED)
        assert threads(daemon.pid) == [daemon.pid]
        before = switches(daemon)
        assert not daemon.notices.is_waiting(1)
        assert switches(daemon) == before


def test_what_ran_leaves_nothing_open(daemon):
    """After a hundred refreshes there are no more descriptors than after ten, and no child."""
    daemon.app({"run": ["/bin/echo", "hello"], "new_data": f"changed:{daemon.directory}"}, {"shell": "(sleep 100 &)"})
    daemon.start()
    with daemon.client.open("Manager") as manager:
        for _ in range(10):
            manager.Run(app=TODO)
        before = len(open_files(daemon))
        for _ in range(90):
            manager.Run(app=TODO)
        # Those of the last refresh are closed soon after its answer.
        bound = Bound()
        while len(open_files(daemon)) > before:
            assert bound.left, open_files(daemon)
    children = f"/proc/{daemon.pid}/task/{daemon.pid}/children"
    assert open(children).read() == ""


def switches(daemon):
    return status(daemon.pid, "voluntary_ctxt_switches"), status(daemon.pid, "nonvoluntary_ctxt_switches")


def open_files(daemon):
    return os.listdir(f"/proc/{daemon.pid}/fd")
