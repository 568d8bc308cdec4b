"""A transfer resumes after any interruption, and fetches no byte twice that is safe on disk."""

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import uuid

import pytest

from processes import wait_for_end
from servers.body import Body
from servers.misbehaving import Misbehaving
from waiting import Bound

MEGA = 1_000_000
SIZE = 4 * MEGA


def kill_worker(transfers):
    for pid in transfers.workers():
        os.kill(pid, signal.SIGKILL)
        wait_for_end(pid)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM"])
def test_a_worker_that_is_killed_costs_nothing_that_it_had(running, misbehaving, name):
    id = running.download(misbehaving.url("plain", SIZE, hold=3 * MEGA))
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 3 * MEGA)
    misbehaving.let_go()
    for pid in running.workers():
        os.kill(pid, getattr(signal, name))
    running.done(id)
    assert Body(SIZE).is_in(running.target())
    again = misbehaving.of("plain")[1:]
    assert len(again) <= 1 and all(3 * MEGA <= asked.start for asked in again)
    running.wake()
    running.no_more_wakes()


@pytest.mark.parametrize("way", ["kill", "stop"])
def test_a_daemon_that_ends_has_its_transfers_go_on_in_the_next(running, misbehaving, way):
    id = running.download(misbehaving.url("plain", SIZE, hold=3 * MEGA))
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 3 * MEGA)
    workers = running.workers()
    getattr(running.daemon, way)()
    for pid in workers:
        wait_for_end(pid)
    misbehaving.let_go()
    assert running.part().stat().st_size == 3 * MEGA and not running.target().exists()
    running.daemon.start()
    running.done(id)
    assert Body(SIZE).is_in(running.target())
    assert [asked.start for asked in misbehaving.of("plain")] == [None, 3 * MEGA]
    assert running.show(id)["attempts"] == 2


def test_everything_is_killed_at_once(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=3 * MEGA))
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 3 * MEGA)
    os.kill(running.daemon.pid, signal.SIGSTOP)
    kill_worker(running)
    running.daemon.kill()
    misbehaving.let_go()
    running.daemon.start()
    running.done(id)
    assert Body(SIZE).is_in(running.target())
    assert [asked.start for asked in misbehaving.of("plain")] == [None, 3 * MEGA]


def test_what_was_answered_is_in_the_queue_whatever_comes_next(running, nginx):
    body = nginx.file("small.bin", 1000)
    ids = running.enqueue(*(running.request(nginx.url("files/small.bin"), str(number)) for number in range(1000)))
    running.daemon.kill()
    running.daemon.start()
    assert [transfer["id"] for transfer in running.all()] == ids == list(range(1, 1001))
    lines = running.wake()[2]
    assert [line["path"] for line in lines] == [str(running.target(str(number))) for number in range(1000)]
    assert {line["outcome"] for line in lines} == {"done"}
    assert all(body.is_in(running.target(str(number))) for number in range(1000))
    running.no_more_wakes()


def start_after_reboot(daemon):
    """Starts the daemon with another boot id for itself and its tasks."""
    boot = daemon.directory / "boot"
    boot.write_text(f"{uuid.uuid4()}\n")
    script = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'
    daemon.start(prefix=["unshare", "--mount", "sh", "-c", script, str(boot)])


@pytest.mark.spawned
def test_a_part_of_before_a_reboot_counts_as_far_as_it_was_on_disk(transfers, misbehaving):
    """After a loss of power, bytes that were not synced may have any value."""
    transfers.daemon.start()
    # The end of an attempt syncs its bytes; the bytes of the next attempt stay unsynced for seconds.
    id = transfers.download(misbehaving.url("cut", SIZE, at=2 * MEGA, rate=MEGA))
    transfers.wait(id, "there", lambda it: it["bytes"] >= 3 * MEGA)
    transfers.daemon.kill()
    kill_worker(transfers)
    length = transfers.part().stat().st_size
    assert 3 * MEGA <= length < SIZE
    # As after a loss of power: the file has its length, but not its bytes.
    with open(transfers.part(), "r+b") as file:
        file.seek(2 * MEGA)
        file.write(b"\0" * (length - 2 * MEGA))
    start_after_reboot(transfers.daemon)
    transfers.done(id)
    assert Body(SIZE).is_in(transfers.target())
    assert [asked.start for asked in misbehaving.of("cut")] == [None, 2 * MEGA, 2 * MEGA]


@pytest.mark.spawned
def test_what_was_synced_before_a_reboot_is_not_fetched_again(transfers, misbehaving):
    """The worker syncs the file every 32 MiB, but at most once a second."""
    size, there = 48 << 20, 46 << 20
    transfers.daemon.start()
    id = transfers.download(misbehaving.url("plain", size, hold=there, rate=34 << 20))
    misbehaving.wait_until_held("plain")
    transfers.wait(id, "there", lambda it: it["bytes"] == there)
    bound = Bound()
    while not (synced := durable(transfers)):
        assert bound.left, "nothing was synced"
        transfers.daemon.settle()
    transfers.daemon.kill()
    kill_worker(transfers)
    misbehaving.let_go()
    with open(transfers.part(), "r+b") as file:
        file.seek(synced)
        file.write(b"\0" * (there - synced))
    start_after_reboot(transfers.daemon)
    transfers.done(id)
    assert Body(size).is_in(transfers.target())
    assert [asked.start for asked in misbehaving.of("plain")] == [None, synced]


def durable(transfers):
    """The bytes of the only transfer that are on disk according to the store."""
    store = next(transfers.daemon.state.glob("*.sqlite"))
    with contextlib.closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return connection.execute("SELECT durable FROM transfer").fetchone()[0]


def test_a_file_of_somebody_in_the_place_of_the_part_is_left(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=3 * MEGA))
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 3 * MEGA)
    running.daemon.kill()
    kill_worker(running)
    misbehaving.let_go()
    other = running.folder / "other"
    other.write_bytes(b"x" * 3 * MEGA)
    other.rename(running.part())
    running.daemon.start()
    assert "move it away" in running.failed(id)["message"]
    assert running.part().read_bytes() == b"x" * 3 * MEGA


def test_a_part_that_was_shortened_is_gone_on_from_where_it_ends(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=3 * MEGA))
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 3 * MEGA)
    running.daemon.kill()
    kill_worker(running)
    misbehaving.let_go()
    os.truncate(running.part(), MEGA)
    running.daemon.start()
    running.done(id)
    assert Body(SIZE).is_in(running.target())


# `REFRESHD_TEST_GIB=1 pytest -k many` runs all of it: 1 GiB and 200 interruptions. The default is a sixteenth.
WHOLE = "REFRESHD_TEST_GIB" in os.environ
LARGE = 1 << 30 if WHOLE else 64 << 20
INTERRUPTIONS = 200 if WHOLE else 40


@pytest.mark.bound(900 if WHOLE else 60)
def test_many_interruptions_cost_little(running, misbehaving):
    """The server cuts, the worker is killed, the daemon is killed and restarted, in turn. The file is right, and less
    than 2 % of the bytes were sent twice."""
    every = LARGE // INTERRUPTIONS
    body = Body(LARGE)
    rate = 60_000_000
    id = running.download(misbehaving.url("cut", LARGE, every=2 * every, rate=rate), sha256=body.sha256)
    chance = random.Random(5)
    interruptions = 0
    for number in range(INTERRUPTIONS // 2):
        goal = min((2 * number + 1) * every + chance.randrange(every), LARGE - every)
        seen = misbehaving.sent("cut")
        if seen < goal:
            misbehaving.wait(f"{goal} bytes", lambda _: misbehaving.sent("cut") >= goal, within=60)
        if number % 5 == 4:
            running.daemon.kill()
            running.daemon.start()
        elif number % 5 == 2:
            running.daemon.restart()
        else:
            kill_worker(running)
        interruptions += 1
    running.wait(id, "ended", lambda it: it["state"] == "ended", within=120)
    ended = running.show(id)
    assert ended["result"] == "done" and body.is_in(running.target())
    cuts = sum(asked.status == 206 and not asked.is_left for asked in misbehaving.of("cut"))
    twice = misbehaving.sent("cut") - LARGE
    print(f"{interruptions} kills, {cuts} cuts, {twice} bytes twice: {twice / LARGE:.3%}")
    assert interruptions + cuts >= INTERRUPTIONS * 0.9
    assert twice < 0.02 * LARGE
    assert running.wake()[2][0]["outcome"] == "done"
    running.no_more_wakes()


@contextlib.contextmanager
def still(*processes):
    """Stops processes with SIGSTOP."""
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)
    yield
    for pid in processes:
        os.kill(pid, signal.SIGCONT)


def wakes(running):
    """The refreshes that reported a session to the app."""
    running.daemon.refresh()
    return [refresh for refresh in running.daemon.history() if refresh["trigger"] == "transfer"]


def was_cut_off(refresh):
    return refresh.get("cause", {}).get("kind") == "daemon_crashed"


def test_a_copy_of_any_moment_ends_with_the_right_file_and_one_wake(running, misbehaving):
    """As after a loss of power: the test copies state and files while the transfer runs, and starts a daemon on each
    copy."""
    running.download(misbehaving.url("plain", SIZE, rate=3 * MEGA // 2))
    copies = []
    for number in range(5):
        goal = number * SIZE // 4 - 100_000
        running.wait(1, "under way", lambda it: it["bytes"] >= goal)
        copy = running.daemon.directory / f"copy{number}"
        with still(running.daemon.pid, *running.workers()):
            shutil.copytree(running.daemon.state, copy / "state")
            shutil.copytree(running.folder, copy / "files")
        copies.append(copy)
    running.done(1)
    running.daemon.stop()
    continued = []
    for number, copy in enumerate(copies):
        # The copied paths are still in the original folder.
        shutil.rmtree(running.folder)
        shutil.copytree(copy / "files", running.folder)
        shutil.rmtree(running.daemon.state)
        shutil.copytree(copy / "state", running.daemon.state)
        running.wakes.lines_so_far()
        there = running.part().stat().st_size if running.part().exists() else 0
        before = len(misbehaving.requests)
        running.daemon.start()
        running.done(1)
        assert Body(SIZE).is_in(running.target()) and not running.part().exists()
        # Bytes on disk are not fetched again, except recent ones that the store does not know of yet.
        continued += [asked.start == there for asked in misbehaving.requests[before:] if number and there]
        # This daemon or the daemon before the copy has woken the app; an interrupted wake does not count.
        assert [each["outcome"] for each in wakes(running) if not was_cut_off(each)] == ["new_data"]
        running.daemon.stop()
    assert len(continued) >= 2 and all(continued)


@pytest.mark.spawned
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make networks")
@pytest.mark.parametrize("network", ["any", "none"])
def test_a_cable_that_is_pulled_stops_the_transfer_and_the_rest_comes_when_it_is_back(transfers, cable, network):
    server = Misbehaving(cable.near_address)
    try:
        transfers.daemon.start(prefix=["ip", "netns", "exec", cable.NAME])
        id = transfers.download(server.url("plain", SIZE, hold=3 * MEGA), network=network)
        server.wait_until_held("plain")
        transfers.wait(id, "there", lambda it: it["bytes"] == 3 * MEGA)
        cable.pull()
        server.let_go()
        transfers.wait_until(id, "waiting")
        cable.plug()
        transfers.done(id)
        assert Body(SIZE).is_in(transfers.target())
        assert {asked.start for asked in server.of("plain")[1:]} == {3 * MEGA}
    finally:
        server.close()
