"""A full disk: the daemon goes on in memory, reports it, and writes when there is space."""

import contextlib
import os
import subprocess

import pytest
import varlink

from client import fails
from daemon import MAIL, TODO, finished
from waiting import Bound

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount a small disk")


@pytest.fixture
def disk(daemon):
    """A disk of one megabyte for the state."""
    daemon.state.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=700", "refreshd-test", daemon.state], check=True)
    yield Disk(daemon.state)
    daemon.end()
    # A child that the killed daemon had just begun to start has the daemon's files open for a moment yet.
    subprocess.run(["umount", "--lazy", daemon.state], check=True)


class Disk:
    def __init__(self, path):
        self.filler = path / "filler"

    def fill(self):
        with open(self.filler, "wb") as file, contextlib.suppress(OSError):
            while True:
                os.write(file.fileno(), b"\0" * 4096)

    def free(self):
        self.filler.unlink()


def test_the_daemon_goes_on_in_memory_and_writes_when_there_is_room(daemon, disk):
    daemon.app("exit 100")
    daemon.start()
    daemon.refresh()
    disk.fill()
    # The log of the store still has space for some changes.
    refreshes = []
    while not daemon.status()["store"].get("problem"):
        refreshes.append(daemon.refresh())
    assert "Going on in memory" in daemon.notices.wait("STATUS")["STATUS"]
    assert daemon.status()["store"]["problem"].startswith("cannot ")
    refreshes += [daemon.refresh() for _ in range(3)]
    assert daemon.show()["last"] == refreshes[-1]
    disk.free()
    refreshes.append(daemon.refresh())
    assert "Going on in memory" not in daemon.notices.wait("STATUS")["STATUS"]
    assert "problem" not in daemon.status()["store"]
    assert daemon.history(limit=len(refreshes)) == refreshes[::-1]
    daemon.kill()
    daemon.start()
    assert daemon.history(limit=len(refreshes)) == refreshes[::-1]


def test_what_cannot_be_stored_is_refused_and_not_done(daemon, disk):
    daemon.app("exit 100", background_interval="5h")
    daemon.start()
    disk.fill()
    while not daemon.status()["store"].get("problem"):
        daemon.refresh()
    with fails("org.refreshd.NotStored") as refused:
        daemon.call("Manager.Set", apps=[TODO], background_interval="3h")
    assert refused["problem"].startswith("cannot ")
    assert daemon.show()["background_interval"] == {
        "in_force": "5h",
        "in_force_us": 18_000_000_000,
        "configured": "5h",
        "overridden": False,
    }
    with fails("org.refreshd.NotStored"):
        daemon.tell("logout")
    assert daemon.show()["phase"] == "background"
    disk.free()
    # A commit that began on the full disk may still fail, and takes along what came meanwhile.
    bound = Bound()
    while True:
        try:
            daemon.call("Manager.Set", apps=[TODO], background_interval="3h")
            break
        except varlink.VarlinkError:
            assert bound.left
    daemon.kill()
    daemon.start()
    assert daemon.show()["background_interval"]["in_force"] == "3h"


def test_a_daemon_starts_on_a_full_disk(daemon, disk):
    """Apps are refreshed all the same, and the daemon writes the results when there is space."""
    daemon.app("exit 100")
    daemon.start()
    before = daemon.refresh()
    daemon.stop()
    disk.fill()
    daemon.start()
    while not daemon.status()["store"].get("problem"):
        daemon.refresh()
    assert daemon.show()["last"]["id"].startswith("2-")
    disk.free()
    last = daemon.refresh()
    daemon.kill()
    daemon.start()
    history = daemon.history()
    assert (history[0], history[-1]) == (last, before)
    assert daemon.call("Manager.Version")["start"] == 3


def test_a_push_that_cannot_be_stored_is_refused_and_taken_once_when_it_is_sent_again(daemon, disk):
    """The daemon does not keep the push in memory: a refused push must not wake the app."""
    events = daemon.pipe("events")
    daemon.app(f'echo "$REFRESH_TRIGGER $REFRESH_CONTENT_ID" > {events}')
    daemon.start()
    disk.fill()
    while not daemon.status()["store"].get("problem"):
        daemon.refresh()
    events.lines_so_far()
    delivery = {"app": TODO, "payload": '{"aps":{"content-available":1},"content-id":42}', "id": "ntfy/home/a"}
    for _ in range(2):
        with fails("org.refreshd.NotStored") as refused:
            daemon.call("Push.Deliver", deliveries=[delivery])
        assert refused["problem"].startswith("cannot ")
    with fails("org.refreshd.NotStored"):
        daemon.call("App.Push", app=TODO, payload=delivery["payload"])
    disk.free()
    number = int(daemon.refresh()["id"].split("-")[1])
    assert events.line() == "manual "
    assert daemon.call("Push.Deliver", deliveries=[delivery])["results"] == [{"fate": "queued"}]
    assert events.line() == "push 42"
    daemon.wait_for_output(f"1-{number + 1} finished")
    assert daemon.call("Push.Deliver", deliveries=[delivery])["results"] == [{"fate": "known"}]
    daemon.kill()
    daemon.start()
    assert daemon.call("Push.Deliver", deliveries=[delivery])["results"] == [{"fate": "known"}]
    assert events.lines_so_far() == []


@pytest.mark.parametrize("call", [("Manager.Disable", {"apps": [MAIL]}), ("App.Signal", {"app": MAIL, "signal": "logout"})])
def test_a_caller_waits_on_where_its_app_cannot_be_switched_off(daemon, disk, call):
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app("exit 100")
    daemon.app(f"echo started > {events}; read _ < {go}; exit 100", id=MAIL)
    daemon.start()
    disk.fill()
    while not daemon.status()["store"].get("problem"):
        daemon.refresh()
    stream = daemon.run(MAIL)
    events.line()
    queued = daemon.run(MAIL)
    method, parameters = call
    with fails("org.refreshd.NotStored"):
        daemon.call(method, **parameters)
    finished(stream)
    again = daemon.run(MAIL)
    assert next(queued)["event"]["kind"] == "started"
    go.let_go(3)
    assert finished(queued)["outcome"] == "no_data"
    again.close()
    disk.free()
