"""An app whose one task fetches a URL into a file, and what becomes of it."""

import time

import pytest

from daemon import TODO


class Fetch:
    def __init__(self, daemon, scratch):
        self.daemon = daemon
        self.folder = scratch / "fetched"
        self.folder.mkdir()
        self.file = self.folder / "feed"

    def of(self, url, keys=None, **app):
        """Writes the app's file: `keys` are those of the table `http`, the others the app's."""
        table = {"url": url, "to": str(self.file), **(keys or {})}
        self.daemon.app({"name": "feed", "http": table}, **app)

    def start(self, url, keys=None, **app):
        self.of(url, keys, **app)
        self.daemon.start()

    def again(self, url, keys=None, **app):
        self.of(url, keys, **app)
        self.daemon.call("Manager.Reload")
        # Or the next start would take this notice for its own.
        self.daemon.notices.wait("READY")

    def run(self):
        """Has it fetched, and gives the outcome and what was said of it."""
        refresh = self.daemon.refresh()
        self.left()
        return refresh["outcome"], refresh["tasks"][0].get("message", refresh.get("cause", {}).get("text"))

    def left(self):
        """Whatever happened, there is the file or there is none, and nothing else."""
        assert [file.name for file in self.folder.iterdir()] in ([], [self.file.name])

    def due(self):
        """Why and in how many seconds it is refreshed next."""
        app = self.daemon.show(TODO)
        return app.get("due_trigger"), app.get("due_us", 0) / 1e6 - time.time()


@pytest.fixture
def fetch(daemon, scratch):
    return Fetch(daemon, scratch)
