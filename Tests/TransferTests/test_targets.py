"""The target of a download: only a path that the app's owner chose and may write."""

import contextlib
import os
import pwd

import pytest
import varlink

from client import fails
from daemon import TODO
from servers.body import Body

SIZE = 100_000


def refused(running, **fields):
    request = {**running.request("http://127.0.0.1:1/x"), **fields}
    with fails("org.refreshd.Transfers.InvalidRequest") as error:
        running.enqueue(running.request("http://127.0.0.1:1/y", "fine"), request)
    assert error["index"] == 1 and error["reason"] and error["remedy"]
    assert running.all() == []
    return error["field"]


@pytest.mark.parametrize(
    "field, value",
    [
        ("url", ""),
        ("url", "ftp://example.org/x"),
        ("url", "file:///etc/passwd"),
        ("url", "http://"),
        ("url", "http://exa mple.org/"),
        ("url", "http://example.org/\r\nHost: x"),
        ("url", "http://example.org/" + "x" * 100_000),
        ("path", "relative"),
        ("path", "/srv/../etc/passwd"),
        ("path", "/srv/./x"),
        ("path", "/srv//x"),
        ("path", "/srv/"),
        ("path", "/srv/.."),
        ("path", "/srv/\0x"),
        ("path", "/" + "x" * 300),
        ("sha256", "abc"),
        ("sha256", "g" * 64),
        ("length", -1),
        ("session", ""),
        ("session", "x" * 256),
        ("session", "a\nb"),
        ("description", "x" * 100_000),
        ("priority", 101),
        ("max_rate", 0),
        ("method", "DELETE"),
        ("headers_file", "relative"),
        ("credential_file", "/srv/../x"),
    ],
)
def test_what_cannot_be_a_transfer_is_refused_with_all_that_came_with_it(running, field, value):
    assert refused(running, **{field: value}) == field


def test_so_many_are_taken_in_one_call(running):
    with fails("org.varlink.service.InvalidParameter", parameter="transfers[1000]"):
        running.enqueue(*(running.request("http://127.0.0.1:1/x", str(number)) for number in range(1001)))
    assert running.all() == []


def test_only_apps_that_are_there_have_transfers(running):
    with fails("org.refreshd.NoSuchApp", app="org.example.none"):
        running.enqueue(running.request("http://127.0.0.1:1/x"), app="org.example.none")
    with fails("org.refreshd.Transfers.NoSuchTransfer", id=7):
        running.cancel(7)


def test_a_link_on_the_way_is_not_followed(running, misbehaving):
    (running.folder / "real").mkdir()
    (running.folder / "link").symlink_to("real")
    ended = running.failed(running.download(misbehaving.url("plain", SIZE), "link/file"))
    assert str(running.folder / "link") in ended["message"] and "real path" in ended["message"]
    assert list((running.folder / "real").iterdir()) == []


def test_a_link_at_the_end_is_replaced_and_what_it_leads_to_is_left(running, misbehaving):
    outside = running.folder / "outside"
    outside.write_text("mine")
    running.target().symlink_to(outside)
    running.done(running.download(misbehaving.url("plain", SIZE)))
    assert outside.read_text() == "mine"
    assert not running.target().is_symlink() and Body(SIZE).is_in(running.target())


@pytest.mark.parametrize("kind", ["symbolic", "hard"])
def test_a_part_that_is_a_link_is_not_written_through(running, misbehaving, kind):
    outside = running.folder / "outside"
    outside.write_text("mine")
    if kind == "hard":
        os.link(outside, running.part())
    else:
        running.part().symlink_to(outside)
    running.end(running.download(misbehaving.url("plain", SIZE)))
    assert outside.read_text() == "mine"


def test_a_file_that_was_there_stays_until_the_new_one_is_whole(running, misbehaving):
    running.target().write_text("before")
    running.target().chmod(0o600)
    running.download(misbehaving.url("plain", SIZE, hold=SIZE // 2))
    misbehaving.wait_until_held("plain")
    assert running.target().read_text() == "before"
    # A private file is private from its first byte on.
    assert running.part().stat().st_mode & 0o777 == 0o600
    misbehaving.let_go()
    running.done(1)
    assert Body(SIZE).is_in(running.target())
    assert running.target().stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_not_there_is_told(running, misbehaving):
    ended = running.failed(running.download(misbehaving.url("plain", SIZE), "none/file"))
    assert str(running.folder / "none") in ended["message"] and "No such file" in ended["message"]


def test_a_folder_in_the_place_of_the_file_is_told(running, misbehaving):
    running.target().mkdir()
    ended = running.failed(running.download(misbehaving.url("plain", SIZE)))
    assert str(running.target()) in ended["message"] and "folder" in ended["message"]
    assert misbehaving.requests == [] and not running.part().exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may have apps of others")
def test_files_are_written_as_the_owner_and_only_where_the_owner_may(transfers, misbehaving):
    nobody = pwd.getpwnam("nobody")
    transfers.daemon.app("cat > /dev/null", owner="nobody")
    transfers.daemon.start()
    running = transfers
    running.done(running.download(misbehaving.url("cut", SIZE)))
    status = running.target().stat()
    assert (status.st_uid, status.st_gid) == (nobody.pw_uid, nobody.pw_gid)
    assert status.st_mode & 0o777 == 0o666 & ~current_umask()
    (running.folder / "locked").mkdir(mode=0o755)
    ended = running.failed(running.download(misbehaving.url("plain", SIZE), "locked/file"))
    assert str(running.folder / "locked") in ended["message"] and "Permission denied" in ended["message"]
    assert list((running.folder / "locked").iterdir()) == []
    assert TODO == running.show(1)["app"]


def current_umask():
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def test_two_transfers_to_one_file_do_not_mix(running, misbehaving):
    first = running.download(misbehaving.url("plain", SIZE, hold=1000))
    misbehaving.wait_until_held("plain")
    second = running.download(misbehaving.url("changed", SIZE, at=SIZE))
    misbehaving.let_go()
    running.done(first)
    running.done(second)
    assert Body(SIZE).is_in(running.target())
    assert not running.part().exists()


def paused_at(running, place, url, **fields):
    """A transfer with this many bytes on disk."""
    id = running.download(url, **fields)
    running.wait(id, "there", lambda it: it["bytes"] == place)
    running.pause(id)
    running.wait_until(id, "paused")
    return id


def test_what_another_transfer_has_written_is_not_continued(running, misbehaving):
    """Two transfers to one file, both begun: each produces its own complete file."""
    first = paused_at(running, 60_000, misbehaving.url("plain", SIZE, hold=60_000))
    second = paused_at(running, 300, misbehaving.url("html200", SIZE, hold=300, times=9))
    misbehaving.let_go()
    running.resume(first)
    running.done(first)
    assert Body(SIZE).is_in(running.target())
    running.resume(second)
    running.done(second)
    assert Body(317, 2).is_in(running.target())


@pytest.mark.parametrize("fields", [{}, {"sha256": Body(SIZE).sha256}], ids=["unchecked", "checked"])
def test_the_file_of_another_transfer_is_not_taken_for_the_own(running, misbehaving, fields):
    first = paused_at(running, 60_000, misbehaving.url("plain", SIZE, hold=60_000), **fields)
    running.done(running.download(misbehaving.url("changed", SIZE, at=SIZE, etag="none")))
    running.target().write_bytes(b"x" * SIZE)
    misbehaving.let_go()
    running.resume(first)
    running.done(first)
    assert Body(SIZE).is_in(running.target())


def test_a_part_that_somebody_has_removed_is_fetched_again(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=60_000))
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 60_000)
    running.part().unlink()
    misbehaving.let_go()
    running.done(id)
    assert Body(SIZE).is_in(running.target())


def test_a_file_of_the_users_that_has_the_name_of_the_part_is_left(running, misbehaving):
    running.part().write_text("mine")
    ended = running.failed(running.download(misbehaving.url("plain", SIZE)))
    assert str(running.part()) in ended["message"] and "move it away" in ended["message"]
    again = running.download(misbehaving.url("plain", SIZE))
    # Whether or not it was tried before.
    with contextlib.suppress(varlink.VarlinkError):
        running.cancel(again)
    assert running.end(again)["result"] in ("cancelled", "failed")
    assert running.part().read_text() == "mine" and misbehaving.requests == []
