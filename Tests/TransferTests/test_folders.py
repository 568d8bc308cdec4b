"""Where a file ends up: folders that are moved, mounted over or missing, and file systems that cannot do all."""

import os
import resource
import signal
import socket
import subprocess

import pytest

from daemon import LAUNCHER, REFRESHD, TODO
from processes import alive
from servers.body import Body

SIZE = 400_000
root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")


@pytest.mark.spawned
def test_a_file_is_put_where_its_path_leads_when_it_is_whole(running, misbehaving):
    music, old = running.folder / "music", running.folder / "old"
    music.mkdir()
    first = running.download(misbehaving.url("plain", SIZE, hold=200_000), "music/one")
    misbehaving.wait_until_held("plain")
    running.wait(first, "there", lambda it: it["bytes"] == 200_000)
    music.rename(old)
    music.mkdir()
    # The worker has the folder open that was moved.
    running.done(running.download(misbehaving.url("chunked", 1000), "music/two"))
    assert Body(1000).is_in(music / "two")
    misbehaving.let_go()
    running.done(first)
    assert Body(SIZE).is_in(music / "one") and list(old.iterdir()) == []


@root
@pytest.mark.spawned
def test_a_file_is_put_on_the_disk_that_was_mounted_meanwhile(running, misbehaving):
    disk = running.folder / "disk"
    disk.mkdir()
    id = running.download(misbehaving.url("plain", SIZE, hold=200_000), "disk/file")
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 200_000)
    subprocess.run(["mount", "-t", "tmpfs", "refreshd-test", disk], check=True)
    try:
        misbehaving.let_go()
        running.done(id)
        assert Body(SIZE).is_in(disk / "file")
    finally:
        running.daemon.end()
        subprocess.run(["umount", "--lazy", disk], check=True)
    assert list(disk.iterdir()) == []


def test_a_folder_that_is_missing_for_now_is_waited_for(running, misbehaving):
    nas, away = running.folder / "nas", running.folder / "away"
    nas.mkdir()
    nas.chmod(0o777)
    id = running.download(misbehaving.url("plain", SIZE, hold=200_000), "nas/film")
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 200_000)
    running.daemon.stop()
    nas.rename(away)
    running.daemon.start()
    waiting = running.wait(id, "tried", lambda it: "No such file" in it.get("message", ""))
    assert waiting["state"] == "waiting" and waiting["bytes"] == 200_000
    away.rename(nas)
    misbehaving.let_go()
    running.resume(id)
    running.done(id)
    assert Body(SIZE).is_in(nas / "film")
    assert [asked.start for asked in misbehaving.of("plain")] == [None, 200_000]


@pytest.fixture
def plainest(running):
    """The folder of the files is on a file system that reports no size and has no extended attributes."""
    subprocess.run(["mount", "-t", "ramfs", "-o", "mode=777", "refreshd-test", running.folder], check=True)
    yield running
    running.daemon.end()
    subprocess.run(["umount", "--lazy", running.folder], check=True)


@root
def test_a_file_system_that_reports_no_size_is_tried(plainest, misbehaving):
    plainest.done(plainest.download(misbehaving.url("plain", SIZE)))
    assert Body(SIZE).is_in(plainest.target())


@root
def test_a_file_of_the_users_is_left_where_no_file_keeps_a_mark(plainest, misbehaving):
    plainest.part().write_text("mine")
    assert "move it away" in plainest.failed(plainest.download(misbehaving.url("plain", SIZE)))["message"]
    again = plainest.download(misbehaving.url("plain", SIZE), network="wifi")
    plainest.cancel(again)
    plainest.end(again)
    assert plainest.part().read_text() == "mine" and misbehaving.requests == []


@root
@pytest.mark.spawned
@pytest.mark.parametrize("size", [1000, SIZE])
def test_a_part_is_known_again_where_no_file_keeps_a_mark(plainest, misbehaving, size):
    id = plainest.download(misbehaving.url("plain", size, hold=size // 2))
    misbehaving.wait_until_held("plain")
    plainest.wait(id, "there", lambda it: it["bytes"] == size // 2)
    os.kill(plainest.workers()[0], signal.SIGKILL)
    misbehaving.let_go()
    plainest.done(id)
    assert Body(size).is_in(plainest.target())


def test_a_finished_file_with_the_name_of_a_part_is_left(running, misbehaving):
    running.done(running.download(misbehaving.url("plain", SIZE), "iso.part"))
    assert "move it away" in running.failed(running.download(misbehaving.url("chunked", 1000), "iso"))["message"]
    # The worker removes the mark after it has reported the end of the file, and before its next transfer.
    assert "user.refreshd.part" not in os.listxattr(running.target("iso.part"))
    assert Body(SIZE).is_in(running.target("iso.part"))


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_what_is_no_plain_file_is_not_replaced(running, misbehaving, kind):
    if kind == "pipe":
        os.mkfifo(running.target())
    else:
        socket.socket(socket.AF_UNIX).bind(str(running.target()))
    before = running.target().lstat()
    assert "not a plain file" in running.failed(running.download(misbehaving.url("plain", SIZE)))["message"]
    assert running.target().lstat().st_ino == before.st_ino and misbehaving.requests == []


@root
def test_a_group_that_cannot_be_given_gets_nothing_under_another_name(running, misbehaving):
    """The worker of root has no capability either."""
    running.target().write_text("old")
    os.chown(running.target(), 0, 4711)
    running.target().chmod(0o640)
    running.done(running.download(misbehaving.url("plain", SIZE)))
    status = running.target().stat()
    assert (status.st_gid, status.st_mode & 0o777) == (0, 0o600)


@pytest.mark.skipif(LAUNCHER != "spawn", reason="the workers have the daemon's limits")
def test_a_limit_on_the_size_of_files_is_a_failure_with_a_reason(running, misbehaving):
    resource.prlimit(running.daemon.pid, resource.RLIMIT_FSIZE, (2_000_000, 2_000_000))
    ended = running.failed(running.download(misbehaving.url("plain", 3_000_000)))
    assert "File too large" in ended["message"] and ended["attempts"] == 1
    assert not running.part().exists()


def test_who_waits_for_a_transfer_waits_through_a_restart_of_the_daemon(running, misbehaving):
    command = [REFRESHD.with_name("refreshctl"), "--socket", running.daemon.socket, "download", TODO]
    url = misbehaving.url("plain", SIZE, hold=200_000)
    with subprocess.Popen(
        [*command, url, "--to", running.target(), "--network", "none", "--wait"], stderr=subprocess.PIPE, text=True
    ) as waiting:
        misbehaving.wait_until_held("plain")
        assert "transferring" in "".join(waiting.stderr.readline() for _ in range(2))
        running.daemon.stop()
        running.daemon.start()
        misbehaving.let_go()
        assert waiting.wait(60) == 0
        assert "the daemon answers again" in waiting.stderr.read()
    assert not alive("refreshctl\0download", str(running.daemon.socket))
