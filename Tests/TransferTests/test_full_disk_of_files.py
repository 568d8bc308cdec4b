"""A full disk: the transfer waits with a reason, and resumes when there is space."""

import contextlib
import os
import subprocess

import pytest

from servers.body import Body

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")
SIZE = 3_000_000


@pytest.fixture
def small(running):
    """The folder of the files is a disk of 4 MiB."""
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=777", "refreshd-test", running.folder], check=True)
    yield running
    running.daemon.end()
    subprocess.run(["umount", "--lazy", running.folder], check=True)


def fill(folder, room):
    """Leaves this many bytes of free space."""
    status = os.statvfs(folder)
    with open(folder / "filler", "wb") as file, contextlib.suppress(OSError):
        os.posix_fallocate(file.fileno(), 0, max(1, status.f_bavail * status.f_frsize - room))


@pytest.mark.parametrize("mode, fields", [("plain", {}), ("chunked", {"length": SIZE})])
def test_a_download_waits_with_a_reason_where_there_is_no_room(small, misbehaving, mode, fields):
    fill(small.folder, 1_000_000)
    waiting = small.wait_until(small.download(misbehaving.url(mode, SIZE), **fields), "no_space")
    assert str(small.target()) in waiting["message"] and not small.target().exists()
    assert [hold["name"] for hold in waiting["holds"]] == ["space"] and waiting["holds"][0]["remedy"]


def test_others_go_on_meanwhile_and_a_person_may_cancel(small, misbehaving):
    fill(small.folder, 1_000_000)
    id = small.download(misbehaving.url("plain", SIZE))
    small.wait_until(id, "no_space")
    little = small.download(misbehaving.url("chunked", 1000), "little")
    small.done(little)
    small.cancel(id)
    assert small.end(id)["result"] == "cancelled"
    assert sorted(path.name for path in small.folder.iterdir()) == ["filler", "little"]


def test_it_goes_on_when_there_is_room_also_in_the_next_daemon(small, misbehaving):
    fill(small.folder, 1_000_000)
    id = small.download(misbehaving.url("plain", SIZE))
    small.wait_until(id, "no_space")
    small.daemon.restart()
    assert small.show(id)["state"] == "no_space"
    (small.folder / "filler").unlink()
    small.done(id)
    assert Body(SIZE).is_in(small.target())
    assert small.wake()[2][0]["outcome"] == "done"


def test_a_size_that_no_disk_has_costs_neither_the_daemon_nor_its_store(running, misbehaving):
    id = running.download(misbehaving.url("cut", 1 << 62, at=1000))
    waiting = running.wait_until(id, "no_space")
    assert waiting["message"]
    running.daemon.restart()
    assert running.show(id)["state"] == "no_space"
    assert [path.name for path in running.daemon.state.iterdir() if "corrupt" in path.name] == []


def test_where_nobody_can_tell_whether_there_is_room_it_is_tried(small, misbehaving):
    folder = small.folder / "folder"
    folder.mkdir()
    folder.chmod(0o777)
    fill(small.folder, 1_000_000)
    id = small.download(misbehaving.url("plain", SIZE), "folder/file")
    small.wait_until(id, "no_space")
    folder.rename(small.folder / "elsewhere")
    assert "folder" in small.failed(id)["message"]
