"""An app with one task that fetches a URL into a file."""

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
        """Writes the app's file: `keys` belong to the table `http`, the others to the app."""
        table = {"url": url, "to": str(self.file), **(keys or {})}
        self.daemon.app({"name": "feed", "http": table}, **app)

    def start(self, url, keys=None, **app):
        self.of(url, keys, **app)
        self.daemon.start()

    def again(self, url, keys=None, **app):
        self.of(url, keys, **app)
        self.daemon.call("Manager.Reload")
        # Otherwise the next start would take this notice for its own.
        self.daemon.notices.wait("READY")

    def run(self):
        """Runs the task, and returns the outcome and the message."""
        refresh = self.daemon.refresh()
        self.left()
        return refresh["outcome"], refresh["tasks"][0].get("message", refresh.get("cause", {}).get("text"))

    def left(self):
        """Asserts that the folder has the file or nothing, but no partial file."""
        assert [file.name for file in self.folder.iterdir()] in ([], [self.file.name])

    def due(self):
        """The reason for the next refresh, and the seconds until then."""
        app = self.daemon.show(TODO)
        return app.get("due_trigger"), app.get("due_us", 0) / 1e6 - time.time()


@pytest.fixture
def fetch(daemon, scratch):
    return Fetch(daemon, scratch)
