"""The users take turns at the slots of transfers."""

import os
import pwd

import pytest

from client import as_user
from daemon import HURRY, MAIL

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")

MALLORY = pwd.getpwnam("games").pw_uid


def test_the_next_slot_is_that_of_the_user_with_fewer(transfers, misbehaving):
    """The priorities and the number of the other user's transfers do not count."""
    daemon = transfers.daemon
    daemon.configure(HURRY + "[transfers]\nmax_concurrent = 2\n")
    daemon.app("true", id=MAIL, owner="games", directory="/")
    daemon.start()
    slow = [
        transfers.request(misbehaving.url("plain", 50_000_000, rate=1000), f"slow{number}", priority=100)
        for number in range(4)
    ]
    with as_user(MALLORY):
        ids = transfers.enqueue(*slow, app=MAIL)
    first = transfers.download(misbehaving.url("plain", 1000), "first", priority=-100)
    second = transfers.download(misbehaving.url("plain", 1000), "second", priority=-100)
    assert {transfers.show(id)["state"] for id in (first, second)} == {"waiting"}
    transfers.cancel(ids[0])
    transfers.done(first)
    transfers.done(second)
    assert [transfers.show(id)["state"] for id in ids[2:]].count("waiting") >= 1


def test_a_second_port_is_the_same_server(transfers, misbehaving):
    daemon = transfers.daemon
    daemon.configure(HURRY + "[transfers]\nmax_per_host = 1\n")
    daemon.start()
    slow = transfers.download(misbehaving.url("plain", 50_000_000, rate=1000), "slow")
    transfers.wait_until(slow, "transferring")
    other = transfers.download("http://127.0.0.1:9/nothing", "other")
    assert transfers.show(other)["holds"][0]["name"] == "concurrency"
