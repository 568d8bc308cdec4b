"""The workers share the bandwidth for all transfers."""

from daemon import HURRY, MAIL

BANDWIDTH = 2_000_000
SIZE = 60_000_000


def test_the_bandwidth_is_shared_by_the_apps_that_have_something_to_move(transfers, misbehaving):
    daemon = transfers.daemon
    daemon.configure(HURRY + f'[transfers]\nbandwidth = "{BANDWIDTH}B"\n')
    daemon.app("true", id=MAIL)
    daemon.start()
    first = transfers.download(misbehaving.url("plain", SIZE), "first")
    [second] = transfers.enqueue(transfers.request(misbehaving.url("plain", SIZE), "second"), app=MAIL)
    half = range(BANDWIDTH * 3 // 8, BANDWIDTH * 5 // 8)
    transfers.wait(first, "at half of the bandwidth", lambda transfer: transfer.get("rate") in half)
    assert transfers.show(second).get("rate", 0) < BANDWIDTH * 3 // 4

    daemon.file(MAIL).unlink()
    daemon.call("Manager.Reload")
    transfers.wait(first, "alone", lambda transfer: transfer.get("rate", 0) > BANDWIDTH * 3 // 4)
    assert transfers.show(second)["holds"][0]["name"] == "not-configured"

    daemon.configure(HURRY)
    daemon.call("Manager.Reload")
    transfers.done(first)
