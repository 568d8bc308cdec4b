"""The promises that hold whatever comes: root is answered, memory is bounded, the store is whole, and status is true."""

import sqlite3
import time

from processes import status

# A call of root is answered at once; the bound is for a busy machine.
BOUND = 10
# The daemon of a debug build may grow by this much, in MB.
GROWTH = 96


class Promises:
    def __init__(self, daemon):
        self.daemon = daemon
        self.before = status(daemon.pid, "VmRSS")
        self.slowest = 0

    def check(self, what):
        """Checks what can be seen from outside while the daemon runs."""
        assert self.daemon.process.poll() is None, f"the daemon ended ({self.daemon.process.returncode}): {what}"
        start = time.monotonic()
        said = self.daemon.status()
        self.slowest = max(self.slowest, time.monotonic() - start)
        assert self.slowest < BOUND, f"an answer took {self.slowest:.1f} s: {what}"
        assert "problem" not in said["store"], (said["store"], what)
        grown = (status(self.daemon.pid, "VmRSS") - self.before) / 1024
        assert grown < GROWTH, f"the daemon grew by {grown:.0f} MB: {what}"
        return said

    def conclude(self, what):
        """Checks the daemon's own words against what is there, also after a restart, and the store when it has ended."""
        self.check(what)
        self.compare(what)
        assert self.daemon.stop() == 0, what
        with sqlite3.connect(self.daemon.state / "refreshd.sqlite") as store:
            assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)], what
            open_transfers = store.execute("SELECT count(*) FROM transfer WHERE stage != 'ended'").fetchone()[0]
        # A reload during the rounds has sent its own.
        while self.daemon.notices.is_waiting(0):
            self.daemon.notices.next()
        self.daemon.start()
        said = self.compare(what)
        assert said["transferring"] + said["transfers_waiting"] <= open_transfers, what

    def compare(self, what):
        """Compares status with what the other methods tell; what runs meanwhile may have changed in between."""
        for left in range(20, -1, -1):
            said = self.daemon.status()
            transfers = self.daemon.call("Transfers.List")["transfers"]
            apps = self.daemon.call("Manager.List")["apps"]
            open_count = sum(transfer["state"] != "ended" for transfer in transfers)
            told = said.get("transferring", 0) + said.get("transfers_waiting", 0)
            if said["apps"] == len(apps) and told == open_count:
                return said
            assert left, (said["apps"], len(apps), told, open_count, what)
