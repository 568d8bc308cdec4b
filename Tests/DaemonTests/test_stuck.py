"""A process that waits in the kernel for a file system that does not answer: no signal ends it."""

import os

import pytest

from daemon import HURRY, MAIL, TODO, finished
from hung_mount import HungMount
from leases import leased  # noqa: F401
from waiting import BOUND

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0 or not os.path.exists("/dev/fuse"), reason="only root may mount"),
    pytest.mark.bound(120),
]


@pytest.fixture
def mount(daemon):
    mount = HungMount(daemon.directory / "mount")
    yield mount
    mount.release()


def test_its_slot_is_free_its_app_is_busy_and_it_is_named(daemon, mount):
    daemon.configure(HURRY + "max_concurrent = 1\n")
    pids = daemon.pipe("pids")
    daemon.app(f"echo $$ > {pids}; exec cat {mount.path}/file", deadline="1s", grace="1s")
    daemon.app("exit 0", id=MAIL)
    daemon.start()
    stream = daemon.run()
    pid = int(pids.line())
    mount.wait_for_request(BOUND)
    daemon.wait_for_output("is blocked in the kernel and cannot be killed")
    assert daemon.refresh(MAIL)["outcome"] == "new_data", "another app has the slot"

    status = daemon.status()
    assert status["refreshing"] == 0
    assert [(stuck["app"], stuck["pids"]) for stuck in status["stuck"]] == [(TODO, [pid])]
    running = daemon.call("Manager.Why", app=TODO)["why"]["running"]
    assert running["is_stuck"] is True and running["stuck_pids"] == [pid]
    while "Blocked in the kernel" not in daemon.notices.wait("STATUS")["STATUS"]:
        pass
    daemon.call("Manager.Set", apps=[TODO])
    with_queue = daemon.run()
    assert with_queue.first["event"]["kind"] == "queued", "the app has no second refresh beside it"

    mount.release()
    last = [answer["event"] for answer in stream][-1]["refresh"]
    assert last["stop_reason"] == "deadline" and last["outcome"] == "failed"
    assert "stuck" not in daemon.status()
    assert daemon.history()[-1] == last
    assert daemon.stop() == 0


def test_it_keeps_no_daemon_from_its_end(daemon, mount):
    daemon.app(f"exec cat {mount.path}/file", grace="1s")
    daemon.start()
    daemon.run()
    mount.wait_for_request(BOUND)
    daemon.signal(15)
    daemon.wait_for_output("is blocked in the kernel and cannot be killed")
    assert daemon.wait() == 0


@pytest.mark.spawned
def test_the_next_daemon_does_not_run_its_app_beside_it(daemon, mount):
    pids = daemon.pipe("pids")
    daemon.app(f"echo $$ > {pids}; exec cat {mount.path}/file", deadline="1s", grace="1s")
    daemon.start()
    daemon.run()
    pid = int(pids.line())
    mount.wait_for_request(BOUND)
    daemon.kill()
    daemon.start()
    assert daemon.show()["running"]["id"].startswith("1-")
    daemon.wait_for_output("still running at its deadline")
    daemon.wait_for_output("is blocked in the kernel and cannot be killed")
    assert daemon.status()["stuck"][0]["pids"] == [pid]
    assert pids.lines_so_far() == [], "it was not started again"
    mount.release()
    daemon.wait_for_output("refresh 1-1 failed after")
    again = daemon.refresh()
    assert int(pids.line()) != pid
    assert [refresh["id"] for refresh in daemon.history()] == [again["id"], "1-1"]
    assert daemon.history()[-1]["stop_reason"] == "deadline"


@pytest.mark.spawned
def test_a_start_that_hangs_is_a_failure_of_its_task_alone(daemon, leased):  # noqa: F811
    daemon.app({"run": [str(leased)]}, deadline="1min")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    stream = daemon.run()
    for _ in range(3):
        assert daemon.refresh(MAIL)["outcome"] == "no_data"
    assert daemon.show()["running"]
    last = finished(stream)
    assert last["outcome"] == "failed" and 9 < last["duration_us"] / 1e6 < 40, last
    daemon.wait_for_output("has not answered for 10 s, or a process has a lease on the program")

    stream = daemon.run()
    daemon.call("Manager.Disable", apps=[TODO])
    last = finished(stream)
    assert last["stop_reason"] == "user" and last["duration_us"] < 9e6, last
