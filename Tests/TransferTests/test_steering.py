"""Pausing, resuming, cancelling and prioritizing transfers, and their limits."""

import os
import signal
import time

import pytest

from client import fails
from daemon import HURRY
from servers.body import Body
from transfers import BOUNDS
from waiting import wait_for

SIZE = 1_000_000


def test_a_paused_transfer_stops_at_once_and_goes_on_where_it_was(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=600_000))
    asked = misbehaving.wait_until_held("plain")
    before = time.monotonic()
    running.pause(id)
    misbehaving.wait_for_end(asked)
    assert asked.ended - before < 15
    paused = running.wait_until(id, "paused")
    assert paused["bytes"] == 600_000 and running.part().stat().st_size == 600_000
    running.daemon.restart()
    assert running.show(id)["state"] == "paused"
    misbehaving.let_go()
    running.resume(id)
    running.done(id)
    assert [one.start for one in misbehaving.of("plain")] == [None, 600_000]
    assert Body(SIZE).is_in(running.target())


def test_a_transfer_that_is_paused_while_it_is_checked_does_not_begin_anew(running, misbehaving):
    large = 1 << 30
    id = running.download(misbehaving.url("plain", large, hold=1000), sha256="0" * 64)
    misbehaving.wait_until_held("plain")
    running.wait(id, "there", lambda it: it["bytes"] == 1000)
    running.pause(id)
    running.wait_until(id, "paused")
    # So that nothing is left to fetch, and much to check.
    os.truncate(running.part(), large)
    running.resume(id)
    running.wait(id, "checked", lambda it: it["state"] == "transferring" and it["bytes"] == large)
    running.pause(id)
    running.wait(id, "stopped", lambda it: it["state"] in ("paused", "ended"))
    assert running.show(id)["state"] == "paused" and len(misbehaving.requests) == 1
    running.cancel(id)
    assert running.end(id)["result"] == "cancelled"
    assert list(running.folder.iterdir()) == []


def test_a_transfer_may_be_paused_before_it_begins(transfers, misbehaving):
    transfers.daemon.configure(HURRY + "[transfers]\nmax_concurrent = 1\n")
    transfers.daemon.start()
    first = transfers.download(misbehaving.url("plain", SIZE, hold=1000))
    misbehaving.wait_until_held("plain")
    second = transfers.download(misbehaving.url("chunked", SIZE), "second")
    transfers.pause(second)
    misbehaving.let_go()
    transfers.done(first)
    assert transfers.show(second)["state"] == "paused" and misbehaving.of("chunked") == []
    transfers.resume(second)
    transfers.done(second)


@pytest.mark.parametrize("state", ["transferring", "paused", "waiting"])
def test_a_cancelled_transfer_leaves_nothing(running, misbehaving, state):
    mode, settings = ("cut", {"every": 300_000}) if state == "waiting" else ("plain", {"hold": 300_000})
    id = running.download(misbehaving.url(mode, SIZE, rate=2_000_000, **settings))
    if state == "waiting":
        running.wait(id, "under way", lambda it: it["bytes"] > 0)
    else:
        misbehaving.wait_until_held("plain")
    if state == "paused":
        running.pause(id)
        running.wait_until(id, "paused")
    running.cancel(id)
    assert running.end(id)["result"] == "cancelled"
    assert list(running.folder.iterdir()) == []
    assert running.wake()[2][0]["outcome"] == "cancelled"


def test_one_call_steers_a_thousand_at_most(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=300_000))
    with fails("org.varlink.service.InvalidParameter", parameter="ids[1000]"):
        running.pause(*[id] * 1001)
    running.pause(*[id] * 1000)
    running.wait_until(id, "paused")


@pytest.mark.parametrize("method", ["Pause", "Resume", "Cancel"])
def test_what_is_over_stays_as_it_is_and_who_asks_is_told(running, misbehaving, method):
    id = running.download(misbehaving.url("plain", SIZE))
    running.done(id)
    with fails("org.refreshd.Transfers.AlreadyEnded", id=id, result="done"):
        running.daemon.call(f"Transfers.{method}", ids=[id])
    assert running.show(id)["result"] == "done" and Body(SIZE).is_in(running.target())


def test_a_cancelled_transfer_has_no_trouble_to_tell_of(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=300_000))
    misbehaving.wait_until_held("plain")
    worker = running.workers()[0]
    os.kill(worker, signal.SIGSTOP)
    running.cancel(id)
    os.kill(worker, signal.SIGKILL)
    assert "message" not in running.end(id)
    assert "message" not in running.wake()[2][0]


def test_a_slow_transfer_holds_up_no_other_with_its_server(transfers, misbehaving):
    transfers.daemon.configure(HURRY)
    transfers.daemon.start()
    names = [str(number) for number in range(4)]
    urls = [misbehaving.url("plain", SIZE, hold=1000)] * 3 + [misbehaving.url("chunked", SIZE)]
    ids = transfers.enqueue(*[transfers.request(url, name) for url, name in zip(urls, names)])
    misbehaving.wait_until_held("plain", times=3)
    transfers.wait(ids[3], "ended", lambda it: it["state"] == "ended", within=10)
    misbehaving.let_go()
    for id in ids:
        transfers.done(id)


def test_a_bandwidth_that_is_lifted_is_lifted_at_once(transfers, misbehaving):
    transfers.daemon.configure(HURRY + BOUNDS + 'bandwidth = "1MB"\n')
    transfers.daemon.start()
    id = transfers.download(misbehaving.url("plain", 60 * SIZE))
    transfers.wait(id, "under way", lambda it: it["bytes"] > 0)
    transfers.daemon.configure(HURRY + BOUNDS)
    transfers.daemon.call("Manager.Reload")
    transfers.wait(id, "ended", lambda it: it["state"] == "ended", within=30)


def test_a_paused_upload_by_post_waits_for_its_slow_answer(transfers, misbehaving):
    """A worker that sends a POST gets more time to stop, because the outcome of the POST must be known."""
    transfers.daemon.configure(HURRY)
    transfers.daemon.start()
    id = transfers.upload(Body(1000), misbehaving.url("put", late=25), method="POST")
    misbehaving.wait("the file", lambda requests: [one for one in requests if one.received == 1000])
    transfers.pause(id)
    assert transfers.done(id)["attempts"] == 1


def test_a_transfer_that_is_cancelled_while_the_daemon_dies_leaves_nothing(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=300_000))
    misbehaving.wait_until_held("plain")
    running.cancel(id)
    running.daemon.kill()
    running.daemon.start()
    assert running.end(id)["result"] == "cancelled"
    assert list(running.folder.iterdir()) == []


def test_the_first_is_the_one_of_the_highest_priority(transfers, misbehaving):
    transfers.daemon.configure(HURRY + "[transfers]\nmax_concurrent = 1\n")
    transfers.daemon.start()
    transfers.download(misbehaving.url("plain", SIZE, hold=1000), "first")
    misbehaving.wait_until_held("plain")
    modes = ["chunked", "cutclose", "noclen", "put"]
    for mode, priority in zip(modes, (0, 5, -5, 5)):
        transfers.download(misbehaving.url(mode, SIZE, at=SIZE), mode, priority=priority, length=SIZE)
    transfers.daemon.call("Transfers.SetPriority", ids=[5], priority=10)
    misbehaving.let_go()
    transfers.wake()
    order = [asked.path.split("/")[1] for asked in misbehaving.requests]
    assert list(dict.fromkeys(order)) == ["plain", "put", "cutclose", "chunked", "noclen"]


def test_so_many_run_at_once_and_so_many_with_one_server(transfers, misbehaving, nginx):
    transfers.daemon.configure(HURRY + "[transfers]\nmax_concurrent = 4\nmax_per_host = 2\n")
    transfers.daemon.start()
    ids = [transfers.download(misbehaving.url("plain", SIZE, hold=1000), str(number)) for number in range(5)]
    misbehaving.wait_until_held("plain", times=2)
    other = nginx.file("other.bin", SIZE)
    transfers.done(transfers.download(nginx.url("files/other.bin").replace("127.0.0.1", "localhost"), "other"))
    assert other.is_in(transfers.target("other"))
    assert len(misbehaving.of("plain")) == 2
    waiting = transfers.show(ids[4])
    assert waiting["state"] == "waiting" and waiting["holds"][0]["name"] == "concurrency"
    misbehaving.let_go()
    for id in ids:
        transfers.done(id)


@pytest.mark.parametrize("bound", ["transfer", "all"])
def test_no_more_than_the_bandwidth_is_used(transfers, misbehaving, bound):
    rate = 4_000_000
    if bound == "all":
        transfers.daemon.configure(HURRY + BOUNDS + 'bandwidth = "4MB"\n')
    transfers.daemon.start()
    fields = {"max_rate": rate} if bound == "transfer" else {}
    before = time.monotonic()
    # On a fast network, the worker reads all bytes that have arrived in one go.
    transfers.done(transfers.download(misbehaving.url("plain", 2 * rate, rate=4 * rate), **fields))
    assert time.monotonic() - before > 1.4


def test_progress_is_told_while_it_goes_on_and_not_too_often(running, misbehaving):
    before = time.monotonic()
    stream = running.daemon.client.stream("Transfers.Watch")
    assert stream.first["transfers"] == []
    id = running.download(misbehaving.url("plain", 2 * SIZE, rate=SIZE))
    seen = []
    for answer in iter(stream):
        seen += answer["transfers"]
        if seen and seen[-1]["state"] == "ended":
            break
    stream.close()
    going = [one for one in seen if one["state"] == "transferring" and one["bytes"]]
    assert [one["bytes"] for one in going] == sorted(one["bytes"] for one in going)
    assert 2 <= len({one["bytes"] for one in going}) <= 2 * (time.monotonic() - before) + 4
    assert going[-1]["total"] == 2 * SIZE
    assert 0 < going[-1]["rate"] < 2 * SIZE
    assert seen[-1]["id"] == id and "rate" not in seen[-1]


def test_a_transfer_is_given_up_in_the_end(transfers, misbehaving):
    transfers.daemon.configure(HURRY + '[transfers]\ngive_up = "2s"\nstall_timeout = "1s"\n')
    transfers.daemon.start()
    id = transfers.download(misbehaving.url("plain", SIZE, hold=300_000))
    assert transfers.end(id)["result"] == "expired"
    assert list(transfers.folder.iterdir()) == []
    assert transfers.wake()[2][0]["outcome"] == "expired"


def test_a_worker_ends_when_there_is_nothing_left_to_do(running, misbehaving):
    running.download(misbehaving.url("plain", SIZE, hold=1000))
    misbehaving.wait_until_held("plain")
    worker = os.pidfd_open(running.workers()[0])
    misbehaving.let_go()
    running.done(1)
    wait_for([worker], "the end of the worker")
    os.close(worker)


def test_transfers_of_an_app_that_is_disabled_wait(running, misbehaving):
    id = running.download(misbehaving.url("plain", SIZE, hold=1000))
    asked = misbehaving.wait_until_held("plain")
    running.daemon.call("Manager.Disable", apps=["org.example.todo"])
    misbehaving.wait_for_end(asked)
    held = running.wait(id, "held", lambda it: it["state"] == "waiting" and it.get("holds"))
    assert [hold["name"] for hold in held["holds"]] == ["disabled"] and held["holds"][0]["remedy"]
    misbehaving.let_go()
    running.daemon.call("Manager.Enable", apps=["org.example.todo"])
    running.done(id)
    assert [one.start for one in misbehaving.of("plain")] == [None, 1000]
