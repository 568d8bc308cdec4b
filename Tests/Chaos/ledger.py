"""The store after a fault: it is whole, and has every refresh of the neighbour's app with its outcome."""

import contextlib
import sqlite3

ROWS = "SELECT outcome, stop_reason FROM refresh JOIN app ON app.key = refresh.app WHERE app.id = ?"
"""The daemon keeps the last 200 of an app, which are more than a test has."""


class Ledger:
    def __init__(self, daemon, app, starts):
        self.daemon, self.app, self.starts = daemon, app, starts

    def balances(self):
        """Ends the daemon, and compares its store with the files that the tasks have left."""
        assert self.daemon.stop() == 0
        with contextlib.closing(sqlite3.connect(self.daemon.state / "refreshd.sqlite")) as store:
            assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            running = store.execute("SELECT id, running_id FROM app WHERE running_id IS NOT NULL").fetchall()
            assert running == [], "a refresh has no outcome"
            strays = store.execute("SELECT count(*) FROM task WHERE refresh NOT IN (SELECT id FROM refresh)").fetchone()
            assert strays == (0,), "a task has no refresh"
            rows = store.execute(ROWS, [self.app]).fetchall()
        fresh = sum(outcome in ("new-data", "no-data") for outcome, _ in rows)
        # The end of the daemon may have stopped one, before or after it left its file.
        stopped = sum(reason == "shutdown" for _, reason in rows)
        started = len(list(self.starts.iterdir()))
        assert fresh + stopped == len(rows), f"a refresh has failed: {rows}"
        assert stopped <= 1 and fresh <= started <= fresh + stopped, f"{started} starts, {len(rows)} in the store"
