"""A task that queues a background download (the kind `transfer`), and then ends."""

from daemon import TODO
from servers.body import Body
from transfers import LOCAL

SIZE = 300_000


def start(daemon, transfers, url, **keys):
    task = {"name": "map", "transfer": {"url": url, "to": str(transfers.target()), **LOCAL, **keys}}
    record = f"printf '%s %s\\n' $REFRESH_TRIGGER $REFRESH_SESSION > {transfers.wakes}"
    daemon.app(task, {"name": "told", "after": ["map"], "shell": f'[ "$REFRESH_TRIGGER" = manual ] || {record}'})
    daemon.start()


def run(daemon):
    task = daemon.refresh()["tasks"][0]
    return task["outcome"], task["message"]


def test_it_ends_at_once_and_the_app_is_woken_when_the_file_is_there(daemon, transfers, misbehaving):
    url = misbehaving.url("plain", SIZE, hold=1000, token="sesame")
    start(daemon, transfers, url, session="nightly", sha256=Body(SIZE).sha256, description="The map")
    assert run(daemon) == ("new_data", "transfer 1 is in the queue")
    misbehaving.wait_until_held("plain")
    assert run(daemon) == ("no_data", "transfer 1 is under way")
    shown = transfers.show(1)
    assert (shown["session"], shown["description"]) == ("nightly", "The map")
    misbehaving.let_go()
    transfers.end(1)
    assert transfers.wakes.line() == "transfer nightly"
    assert Body(SIZE).is_in(transfers.target())
    daemon.settle()
    # The wake itself queues nothing.
    assert len(transfers.all(app=TODO)) == 1
    assert not [line for line in daemon.written() if "sesame" in line]
    assert run(daemon) == ("new_data", "transfer 2 is in the queue")


def test_a_download_that_fails_wakes_the_app_too(daemon, transfers, nginx):
    start(daemon, transfers, nginx.url("files/none"))
    assert daemon.show()["tasks"][0]["transfer"] == {"url": nginx.url("files/none"), "to": str(transfers.target())}
    assert run(daemon)[0] == "new_data"
    assert transfers.end(1)["result"] == "failed"
    assert transfers.wakes.line() == "transfer default"


def test_a_url_that_was_corrected_takes_the_place_of_the_old_one(daemon, transfers, misbehaving):
    start(daemon, transfers, misbehaving.url("stall", SIZE, hold=1000))
    assert run(daemon) == ("new_data", "transfer 1 is in the queue")
    misbehaving.wait_until_held("stall")
    # An upload from the same path is another thing.
    old, new = misbehaving.url("stall", SIZE, hold=1000), misbehaving.url("plain", SIZE, hold=1000, token="right")
    upload = transfers.enqueue({**transfers.request(misbehaving.url("put"), direction="upload"), "network": "wifi"})[0]
    daemon.file().write_text(daemon.file().read_text().replace(old, new))
    daemon.call("Manager.Reload")
    assert run(daemon) == ("new_data", "transfer 3 is in the queue in place of 1, which had another URL")
    assert transfers.end(1)["result"] == "cancelled"
    misbehaving.wait_until_held("plain")
    assert run(daemon) == ("no_data", "transfer 3 is under way")
    # The query counts too, although nobody is shown it.
    daemon.file().write_text(daemon.file().read_text().replace("token=right", "token=newer"))
    daemon.call("Manager.Reload")
    assert run(daemon)[1] == "transfer 4 is in the queue in place of 3, which had another URL"
    misbehaving.let_go()
    transfers.done(4)
    assert Body(SIZE).is_in(transfers.target()) and not transfers.part().exists()
    assert transfers.show(upload)["state"] != "ended"
