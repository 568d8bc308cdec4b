"""A worker that waits in the kernel for a file server that does not answer: no signal ends it."""

import os

import pytest

from hung_mount import HungMount
from processes import alive
from servers.body import Body
from waiting import BOUND, Bound

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="only root may mount"),
    pytest.mark.bound(180),
    pytest.mark.spawned,
]
SIZE = 100_000


@pytest.fixture
def mount(transfers):
    mount = HungMount(transfers.daemon.directory / "mount")
    yield mount
    mount.release()


def test_it_loses_its_transfers_and_delays_no_others(running, misbehaving, mount):
    """Asking, SIGTERM and SIGKILL have their bounds, about half a minute together; then its transfers are free."""
    lost = running.download(misbehaving.url("plain", SIZE), path=str(mount.path / "file"))
    mount.wait_for_request(BOUND)
    [stuck] = running.workers()
    running.done(running.download(misbehaving.url("plain", SIZE), "other"))
    assert Body(SIZE).is_in(running.target("other")), "another folder has another worker"

    running.cancel(lost)
    bound = Bound(90)
    while (transfer := running.show(lost))["state"] != "ended":
        assert bound.left, transfer
        running.daemon.notices.is_waiting(0.2)
    assert transfer["result"] == "cancelled"
    running.daemon.wait_for_output(f"the worker (process {stuck}) is blocked in the kernel and cannot be killed")
    assert stuck in alive(str(running.daemon.socket)), "it is still there"
    running.done(running.download(misbehaving.url("plain", SIZE), "third"))

    # The daemon ends without it, and so does the next one.
    assert running.daemon.stop() == 0
    running.daemon.start()
    running.done(running.download(misbehaving.url("plain", SIZE), "fourth"))
    assert running.daemon.stop() == 0
