"""The slots of transfers: no user has the last, and a server has some of them."""

import os
import pwd

import pytest

from client import as_user
from daemon import HURRY, MAIL

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

MALLORY = pwd.getpwnam("games").pw_uid


def test_no_user_has_the_last_slot(transfers, misbehaving):
    """Eight slow downloads take all slots, and those of one server; their priorities and number do not count."""
    daemon = transfers.daemon
    daemon.app("true", id=MAIL, owner="games", directory="/")
    daemon.start()
    url = misbehaving.url("plain", 50_000_000, rate=3000)
    urls = [url] * 6 + [url.replace("127.0.0.1", "localhost")] * 3
    slow = [transfers.request(url, f"slow{number}", priority=100) for number, url in enumerate(urls)]
    with as_user(MALLORY):
        ids = transfers.enqueue(*slow, app=MAIL)
    daemon.wait_for_output(f"transfer {ids[7]} began")
    for name in ("first", "second"):
        transfers.done(transfers.download(misbehaving.url("plain", 5), name, priority=-100))
    assert [transfers.show(id)["state"] for id in ids] == ["transferring"] * 8 + ["waiting"]


def test_a_second_port_is_the_same_server(transfers, misbehaving):
    daemon = transfers.daemon
    daemon.configure(HURRY + "[transfers]\nmax_per_host = 1\n")
    daemon.start()
    slow = transfers.download(misbehaving.url("plain", 50_000_000, rate=1000), "slow")
    transfers.wait_until(slow, "transferring")
    other = transfers.download("http://127.0.0.1:9/nothing", "other")
    assert transfers.show(other)["holds"][0]["name"] == "concurrency"
