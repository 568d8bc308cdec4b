"""A device of the machine does its worst; what does not need the device goes on.

Where a fault makes a call fail by design, the row says so and measures the rest.
"""

import contextlib
import os
import signal
import socket
import stat
import subprocess
import time

import pytest

from client import as_user, fails
from daemon import HURRY
from hung_mount import HungMount
from processes import alive
from stand import BAD, CULPRIT, SLACK, SWITCHED, VICTIM
from waiting import BOUND, Bound

NOT_STORED = "org.refreshd.NotStored"


# Disks.


@pytest.fixture
def mark(stand, preload):
    """The file that makes the disk of the store hang or slow."""
    mark = stand.daemon.directory / "mark"
    stand.environment = {
        "LD_PRELOAD": str(preload("hung")), "HUNG_FILE": str(mark), "HUNG_DIRECTORY": str(stand.daemon.state),
    }  # fmt: skip
    yield mark
    mark.unlink(missing_ok=True)


def test_a_disk_that_hangs(stand, mark):
    """Nothing starts until it is saved, and switches are refused after 8 s; questions are answered, and nothing is lost."""
    stand.start()
    mark.touch()
    stand.daemon.tell("launched", BAD)
    stand.daemon.wait_for_output("nothing new starts until it answers")
    measured = stand.measure(calls=["Status", "List", "Show"])
    began = time.monotonic()
    with as_user(VICTIM), fails(NOT_STORED):
        stand.daemon.call("Manager.Disable", apps=[SWITCHED])
    assert time.monotonic() - began < 8 + SLACK
    again = stand.measure(seconds=0.5, calls=["Status", "List", "Show", "Disable", "Enable"])
    mark.unlink()
    stand.daemon.wait_for_output("the store can be written again")
    measured.within_bounds(starts=False)
    again.within_bounds(starts=False, refused=NOT_STORED)
    assert not stand.daemon.call("Manager.Why", app=SWITCHED)["why"]["is_disabled"]
    stand.holds_afterwards()


SYNC = 0.1
# A change may come when a commit has just begun, and each may bring the log over into the database.
COMMIT = 6 * SYNC


def test_a_disk_that_is_slow(stand, mark):
    """A call that is saved waits for its commit and for the one before; a call that only asks does not wait."""
    stand.start()
    mark.write_text(str(int(SYNC * 1000)))
    measured = stand.measure()
    mark.unlink()
    assert measured.changing[len(measured.changing) // 2] >= SYNC, "the disk is not slow"
    measured.within_bounds(commit=COMMIT)
    stand.holds_afterwards()


def test_a_disk_that_is_full(stand):
    """Refreshes go on in memory; switches are refused, at once, and are not done."""
    state = stand.daemon.state
    state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "refreshd-test", state], check=True)
    try:
        stand.start()
        with open(state / "filler", "wb") as file, contextlib.suppress(OSError):
            while True:
                os.write(file.fileno(), bytes(4096))
        # The log of the store still has space for some changes.
        while not stand.daemon.status()["store"].get("problem"):
            stand.daemon.refresh(BAD)
        measured = stand.measure()
        assert measured.failures, "the disk is not full"
        measured.within_bounds(refused=NOT_STORED)
        (state / "filler").unlink()
        stand.daemon.refresh(BAD)
        stand.daemon.settle(BAD)
        stand.holds_afterwards()
    finally:
        stand.daemon.end()
        subprocess.run(["umount", state], check=True)


# A file server that does not answer.


@pytest.fixture
def mount(stand):
    if not os.path.exists("/dev/fuse"):
        pytest.skip("no FUSE on this machine")
    mount = HungMount(stand.daemon.directory / "mount")
    yield mount
    mount.release()


def test_a_task_that_no_signal_ends(stand, mount):
    """It has the only slot that its user may have, which is free 10 s after SIGKILL."""
    stand.daemon.configure(HURRY + "max_concurrent = 1\n")
    stand.start(f"exec cat {mount.path}/file", deadline="1s", grace="0s")
    with as_user(CULPRIT):
        stand.daemon.run(BAD)
    mount.wait_for_request(BOUND)
    stand.daemon.wait_for_output("is blocked in the kernel and cannot be killed")
    measured = stand.measure()
    assert stand.daemon.show(BAD)["running"], "the task has ended, so the fault is over"
    measured.within_bounds()
    mount.release()
    stand.holds_afterwards()


def test_a_task_whose_start_hangs(stand, mount):
    """The process that becomes the task enters its directory before its program runs."""
    stand.start({"name": "enter", "run": ["/bin/true"], "directory": f"{mount.path}/directory"}, deadline="1min")
    with as_user(CULPRIT):
        stand.daemon.run(BAD)
    mount.wait_for_request(BOUND)
    measured = stand.measure()
    assert stand.daemon.show(BAD)["running"], "the task has ended, so the fault is over"
    measured.within_bounds()
    mount.release()
    stand.holds_afterwards()


def test_a_worker_that_no_signal_ends(stand, mount):
    stand.start("true")
    with as_user(CULPRIT):
        stand.daemon.call("Transfers.Enqueue", app=BAD, transfers=[
            {"url": "http://127.0.0.1:9/", "path": f"{mount.path}/file", "network": "none"}
        ])  # fmt: skip
    mount.wait_for_request(BOUND)
    measured = stand.measure()
    assert alive("refresh-worker", str(stand.daemon.socket)), "the worker has ended, so the fault is over"
    measured.within_bounds()
    mount.release()
    stand.holds_afterwards()


def test_a_mount_that_is_dead(stand, mount):
    """Each look at a path of `changed:` hangs in a thread of the daemon. The neighbour's app has a path that is well."""
    stand.task = {"new_data": f"changed:{stand.starts}"}
    stand.start({"name": "look", "shell": "true", "new_data": f"changed:{mount.path}/tree"}, deadline="2s")
    with as_user(CULPRIT):
        stand.daemon.run(BAD)
    mount.wait_for_request(BOUND)
    measured = stand.measure()
    measured.within_bounds()
    [task] = stand.daemon.history(BAD)[-1]["tasks"]
    assert (task["outcome"], task.get("cause")) == ("no_data", None) and "cannot tell whether" in task["message"], task
    assert stand.daemon.call("Manager.Why", app=BAD)["why"]["strikes"] == 0, "the app has the blame"
    mount.release()
    stand.holds_afterwards()


# Services of the machine.

IN_ITS_OWN_RUN = """
mount --bind "$0" /run
JOURNAL_STREAM=$(stat --dereference --format %d:%i /proc/self/fd/2) exec "$@"
"""


def test_a_journald_that_is_stopped(stand):
    """Its socket is full: nobody reads it. Later the journal says how much is missing."""
    run = stand.daemon.directory / "run"
    (run / "systemd/journal").mkdir(parents=True)
    with contextlib.closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as journald:
        journald.bind(str(run / "systemd/journal/socket"))
        stand.prefix = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", IN_ITS_OWN_RUN, run]
        # More than is kept for journald, and as much as an app may print at once.
        stand.start("i=0; while [ $i -lt 1000 ]; do printf '%0900d\n' $i; i=$((i + 1)); done; exec sleep 60")
        with as_user(CULPRIT):
            stand.daemon.run(BAD)
        measured = stand.measure()
        measured.within_bounds()
        journald.setblocking(False)
        said, bound = b"", Bound()
        while b"journal entries are missing here" not in said:
            assert bound.left, "the journal does not say what is missing"
            with contextlib.suppress(BlockingIOError):
                said += journald.recv(1 << 20)
        stand.holds_afterwards()


@contextlib.contextmanager
def pipe_to_a_reader(directory):
    """A pipe's path and the descriptor of its reader."""
    os.mkfifo(directory / "output")
    reader = os.open(directory / "output", os.O_RDWR | os.O_NONBLOCK)
    yield directory / "output", reader
    os.close(reader)


@contextlib.contextmanager
def terminal_with_a_reader(_):
    """A terminal's path and the descriptor of the program that shows it."""
    reader, terminal = os.openpty()
    os.set_blocking(reader, False)
    yield os.ttyname(terminal), reader
    os.close(terminal)
    os.close(reader)


@pytest.mark.parametrize("output", [pipe_to_a_reader, terminal_with_a_reader])
def test_a_reader_of_the_output_that_stopped(stand, output):
    """Without journald, as in a container or in a shell, the output is a pipe or a terminal. It goes on, or says how much
    is missing."""
    with output(stand.daemon.directory) as (path, reader):
        stand.prefix = ["sh", "-c", 'exec "$@" 2> "$0"', path]
        # As much as an app may print at once.
        stand.start("i=0; while [ $i -lt 1000 ]; do printf '%01000d\\n' $i; i=$((i + 1)); done; exec sleep 60")
        with as_user(CULPRIT):
            stand.daemon.run(BAD)
        stand.measure().within_bounds()
        # It reads a little and stops again: a terminal then takes a part of what there is to write.
        said, bound = os.read(reader, 6000), Bound()
        stand.measure().within_bounds()
        while b"lines are missing here" not in said and f"{999:01000}".encode() not in said:
            assert bound.left, "the output does not go on"
            with contextlib.suppress(BlockingIOError):
                said += os.read(reader, 1 << 20)
        stand.holds_afterwards()


@contextlib.contextmanager
def bus_that_accepts(address):
    """A bus that takes connections and never answers."""
    with contextlib.closing(socket.socket(socket.AF_UNIX)) as bus:
        bus.bind(str(address))
        bus.listen(64)
        bus.settimeout(BOUND)
        yield lambda pid: bus.accept()


@contextlib.contextmanager
def bus_that_stops(address):
    """A bus that answers at first."""
    def stop(pid):
        """Stops it once the daemon is its client."""
        bound = Bound()
        while f" {pid} " not in subprocess.run(listing, capture_output=True, text=True, timeout=BOUND).stdout:
            assert bound.left, "the daemon does not use the bus"
        bus.send_signal(signal.SIGSTOP)

    listing = ["busctl", f"--address=unix:path={address}", "--no-legend", "list"]
    bus = subprocess.Popen(["dbus-daemon", "--session", f"--address=unix:path={address}", "--nofork", "--nopidfile"])
    try:
        bound = Bound()
        while not (address.exists() and stat.S_ISSOCK(address.stat().st_mode)):
            assert bound.left and bus.poll() is None, "the bus does not start"
            signal.sigtimedwait([], 0.02)
        yield stop
    finally:
        bus.kill()
        bus.wait()


@pytest.mark.parametrize("bus", [bus_that_accepts, bus_that_stops], ids=["from the start", "later"])
def test_a_bus_that_is_silent(stand, bus):
    address = stand.daemon.directory / "bus"
    with bus(address) as silence:
        stand.environment = {"DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={address}"}
        stand.start()
        silence(stand.daemon.pid)
        measured = stand.measure()
        measured.within_bounds()
        stand.holds_afterwards()
