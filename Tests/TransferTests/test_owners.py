"""A transfer runs as the user who was the app's owner when it was asked for, or not at all."""

import os
import sqlite3

import pytest

from daemon import TODO
from servers.body import Body

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may have apps of others")
SIZE = 300_000


@pytest.fixture
def nobodys(transfers):
    """The transfers of an app of nobody."""
    own(transfers, "nobody")
    transfers.daemon.start()
    return transfers


def own(transfers, owner):
    transfers.daemon.app("cat > /dev/null", owner=owner)


def give_to_root(transfers):
    own(transfers, "root")
    transfers.daemon.call("Manager.Reload")


def locked(transfers, name):
    """A folder that only root may use."""
    folder = transfers.folder / name
    folder.mkdir(mode=0o700)
    return folder


def refused(transfers, id):
    message = transfers.failed(id)["message"]
    assert "is root now; request it again" in message, message


def test_what_another_owner_asked_for_is_not_written_as_the_new_one(nobodys, misbehaving):
    folder = locked(nobodys, "root")
    nobodys.daemon.call("Manager.Disable", apps=[TODO])
    id = nobodys.download(misbehaving.url("plain", SIZE), "root/cron")
    give_to_root(nobodys)
    nobodys.daemon.call("Manager.Enable", apps=[TODO])
    refused(nobodys, id)
    assert list(folder.iterdir()) == [] and misbehaving.requests == []
    # A request of the new owner runs.
    nobodys.done(nobodys.download(misbehaving.url("plain", SIZE), "root/cron"))


def test_what_another_owner_asked_for_is_not_sent_as_the_new_one_after_a_restart(nobodys, misbehaving):
    folder = locked(nobodys, "root")
    (folder / "headers").write_text("X-Token: secret\n")
    (folder / "headers").chmod(0o600)
    nobodys.daemon.call("Manager.Disable", apps=[TODO])
    url, headers = misbehaving.url("put"), str(folder / "headers")
    id = nobodys.upload(Body(100), url, "root/secret", headers_file=headers)
    nobodys.daemon.stop()
    own(nobodys, "root")
    nobodys.daemon.start()
    nobodys.daemon.call("Manager.Enable", apps=[TODO])
    refused(nobodys, id)
    assert misbehaving.requests == []


def test_what_runs_is_stopped_when_the_app_gets_another_owner(nobodys, misbehaving):
    id = nobodys.download(misbehaving.url("plain", SIZE, hold=100_000))
    misbehaving.wait_until_held("plain")
    nobodys.wait(id, "there", lambda it: it["bytes"] == 100_000)
    give_to_root(nobodys)
    refused(nobodys, id)
    assert list(nobodys.folder.iterdir()) == [] and len(misbehaving.requests) == 1


def test_an_app_that_comes_back_with_another_owner_has_no_transfers(nobodys, misbehaving):
    id = nobodys.download(misbehaving.url("plain", SIZE, hold=100_000))
    misbehaving.wait_until_held("plain")
    nobodys.daemon.file().unlink()
    nobodys.daemon.call("Manager.Reload")
    nobodys.wait_until(id, "waiting")
    give_to_root(nobodys)
    refused(nobodys, id)
    assert len(misbehaving.requests) == 1


def test_a_transfer_that_is_cancelled_removes_nothing_as_another_user(nobodys, misbehaving):
    id = nobodys.download(misbehaving.url("plain", SIZE, hold=100_000))
    misbehaving.wait_until_held("plain")
    nobodys.pause(id)
    nobodys.wait_until(id, "paused")
    give_to_root(nobodys)
    nobodys.cancel(id)
    assert nobodys.end(id)["result"] == "cancelled"
    assert nobodys.part().exists()


def test_a_transfer_that_was_stored_without_its_owner_does_not_run(nobodys, misbehaving):
    nobodys.daemon.call("Manager.Disable", apps=[TODO])
    id = nobodys.download(misbehaving.url("plain", SIZE))
    nobodys.daemon.stop()
    with sqlite3.connect(nobodys.daemon.state / "refreshd.sqlite") as store:
        store.execute("UPDATE transfer SET owner = NULL")
    nobodys.daemon.start()
    nobodys.daemon.call("Manager.Enable", apps=[TODO])
    assert "cannot find out who requested it" in nobodys.failed(id)["message"]
    assert misbehaving.requests == []
