"""Virtual time for a real daemon: its boot clock and its wall clock go ahead by ahead.c."""

import calendar
import time

from client import answers, message
from waiting import BOUND
from wall import SECOND

BEGIN = calendar.timegm((2026, 10, 24, 8, 0, 0))
# More than a night takes for a few apps.
TURNS = 30


class Days:
    """The clocks of the daemon."""

    def __init__(self, daemon, library):
        self.daemon = daemon
        self.file = daemon.directory / "ahead"
        self.environment = {"LD_PRELOAD": str(library), "AHEAD": str(self.file), "TZ": "Europe/Berlin"}
        self.wall = BEGIN - int(time.time())
        self.ahead = 0
        self.connection = None
        self.go(0)

    def go(self, seconds):
        """Sets the clocks ahead, while nothing runs and nothing is written."""
        self.ahead += seconds
        part = self.file.with_suffix(".part")
        part.write_text(f"{self.ahead} {self.wall}\n")
        part.rename(self.file)

    @property
    def now(self):
        return int(time.time() * SECOND) + (self.wall + self.ahead) * SECOND

    def rest(self, app):
        """Waits until nothing is being refreshed and all is on the disk, for which some app is asked.

        A night goes through the apps in slices, each a turn of the daemon's loop. With each call the loop turns once.
        The status plays the coming nights, so another call turns the loop.
        """
        end = time.monotonic() + BOUND
        while True:
            assert time.monotonic() < end
            if self.ask("Status")["status"]["refreshing"]:
                continue
            for _ in range(TURNS):
                self.ask("Version")
            if not self.ask("Status")["status"]["refreshing"]:
                break
        self.daemon.settle(app)

    def ask(self, method):
        """Calls a method of org.refreshd.Manager on one connection, because every step asks many times."""
        self.connection = self.connection or self.daemon.client.connect()
        self.connection.sendall(message(f"org.refreshd.Manager.{method}"))
        [answer] = answers(self.connection)
        return answer["parameters"]
