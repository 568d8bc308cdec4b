"""An app's background transfers, as the app and its user see them."""

import json

from client import Client
from daemon import HURRY, TODO
from processes import alive
from waiting import Bound

# A server on this machine needs no network.
LOCAL = {"network": "none"}
# Settings for tests: a stall is noticed soon.
BOUNDS = '[transfers]\nstall_timeout = "1s"\n'


class Transfers:
    def __init__(self, daemon):
        self.daemon = daemon
        self.folder = daemon.directory / "files"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.wakes = daemon.pipe("wakes")
        daemon.configure(HURRY + BOUNDS)
        # Each wake is one line: trigger, session, and standard input, in which no line has a tab.
        daemon.app(f"printf '%s %s %s\\n' $REFRESH_TRIGGER $REFRESH_SESSION \"$(tr '\\n' '\\t')\" > {self.wakes}")

    def target(self, name="file"):
        return self.folder / name

    def part(self, name="file"):
        return self.folder / f"{name}.part"

    def request(self, url, name="file", **fields):
        return {"url": url, "path": str(self.target(name)), **LOCAL, **fields}

    def enqueue(self, *requests, app=TODO):
        return self.daemon.call("Transfers.Enqueue", app=app, transfers=list(requests))["ids"]

    def download(self, url, name="file", **fields):
        """Queues a download into the folder, and returns the number of the transfer."""
        return self.enqueue(self.request(url, name, **fields))[0]

    def upload(self, body, url, name="file", **fields):
        """Queues an upload of a file that is created in the folder."""
        body.write(self.target(name))
        return self.enqueue(self.request(url, name, direction="upload", **fields))[0]

    def all(self, **which):
        return self.daemon.call("Transfers.List", **which)["transfers"]

    def show(self, id):
        return next(transfer for transfer in self.all() if transfer["id"] == id)

    def wait(self, id, what, condition, within=60):
        """Waits until a transfer has these values, and returns it."""
        bound = Bound(within)
        stream = self.daemon.client.stream("Transfers.Watch", app=TODO)
        try:
            seen = []
            for answer in stream:
                for transfer in answer["transfers"]:
                    if transfer["id"] == id:
                        if condition(transfer):
                            return transfer
                        seen.append((transfer["state"], transfer.get("bytes"), transfer.get("message")))
                assert bound.left, f"transfer {id} is not {what} within {within} s: {seen[-5:]}"
        finally:
            stream.close()
        raise AssertionError(f"the daemon ended before transfer {id} was {what}: {seen[-5:]}")

    def wait_until(self, id, state):
        return self.wait(id, state, lambda transfer: transfer["state"] == state)

    def end(self, id):
        """Waits until a transfer has ended, and returns it."""
        return self.wait_until(id, "ended")

    def done(self, id):
        """Waits until a transfer has succeeded, and returns it."""
        ended = self.end(id)
        assert ended["result"] == "done", ended
        return ended

    def failed(self, id):
        ended = self.end(id)
        assert ended["result"] == "failed", ended
        return ended

    def pause(self, *ids):
        self.daemon.call("Transfers.Pause", ids=list(ids))

    def resume(self, *ids):
        self.daemon.call("Transfers.Resume", ids=list(ids))

    def cancel(self, *ids):
        self.daemon.call("Transfers.Cancel", ids=list(ids))

    def wake(self):
        """Waits for the next wake of the app: its trigger, its session, and the lines about the transfers."""
        trigger, session, text = self.wakes.line().split(" ", 2)
        return trigger, session, [json.loads(line) for line in text.split("\t") if line]

    def no_more_wakes(self):
        """Asserts that no wake is pending: a refresh that starts now ends after them."""
        self.daemon.refresh()
        lines = self.wakes.lines_so_far()
        assert [line.split(" ")[0] for line in lines] == ["manual"], lines

    def workers(self):
        """The worker processes of this daemon's transfers."""
        return alive("refresh-worker\0transfer", f"REFRESH_SOCKET={self.daemon.socket}")
