"""The stand of a fault: a daemon, a neighbour who is measured, and the bounds that must hold meanwhile."""

import contextlib
import json
import os
import pathlib
import pwd
import signal
import statistics
import subprocess
import sys
import time

from client import answers, as_user
from ledger import Ledger
from waiting import Bound, wait_for

HERE = pathlib.Path(__file__).resolve().parent
# Users that every Debian has.
VICTIM, CULPRIT = (pwd.getpwnam(name).pw_uid for name in ("games", "news"))
ITS_APP, SWITCHED, BAD = "org.example.neighbour", "org.example.switched", "org.example.culprit"
INTERVAL = 0.5
MEASURED = float(os.environ.get("REFRESHD_CHAOS_SECONDS", 1.5))
"""How long each fault lasts once it is there, in seconds."""

SLACK = float(os.environ.get("REFRESHD_CHAOS_SLACK", 20))
"""How much later than on an idle machine with a release build all may be. `make chaos` sets 1."""

LOOK = 0.04 if SLACK == 1 else 0.1
"""Between two calls of root's; with fewer than 100 calls the 99th percentile would be the worst of them."""
CALL = 0.050
START = 0.250
MEGABYTES = 64
CALLS = ["Status", "List", "Why", "Set", "Disable", "Enable"]
"""The neighbour's calls, of org.refreshd.Manager."""


class Stand:
    def __init__(self, daemon):
        self.daemon = daemon
        self.starts = daemon.directory / "starts"
        self.starts.mkdir()
        self.starts.chmod(0o777)
        self.environment = {}
        self.prefix = []
        # The task of the neighbour's app, apart from its shell command, and the keys of that app.
        self.task, self.keys = {}, {}

    def start(self, *tasks, more=0, **keys):
        """Starts the daemon with the neighbour's apps and one of the culprit with these tasks, and as many more."""
        daemon = self.daemon
        daemon.app(
            {"name": "touch", "shell": f"touch {self.starts}/$(date +%s%N)", **self.task}, id=ITS_APP,
            owner=str(VICTIM), directory="/", foreground_interval=f"{INTERVAL}s", **self.keys,
        )  # fmt: skip
        daemon.app("true", id=SWITCHED, owner=str(VICTIM), directory="/")
        daemon.app(*(tasks or ["true"]), id=BAD, owner=str(CULPRIT), directory="/", **keys)
        for number in range(more):
            daemon.app("true", id=f"{BAD}{number}", owner=str(CULPRIT), directory="/", background_interval="30min")
        daemon.start(prefix=self.prefix, environment=self.environment)
        with as_user(VICTIM):
            daemon.tell("foreground", ITS_APP)

    @contextlib.contextmanager
    def culprit(self, fault, app=BAD, uid=CULPRIT):
        """A process of another user that causes the fault until the block ends."""
        process = subprocess.Popen(
            [sys.executable, "-B", HERE / "culprit.py", str(self.daemon.socket), fault, app],
            user=uid, group=uid, extra_groups=[], stdout=subprocess.PIPE, cwd="/",
        )  # fmt: skip
        try:
            wait_for([process.stdout], f"the fault {fault}")
            assert process.stdout.readline() == b"ready\n", f"the culprit cannot cause {fault}"
            yield process
            assert process.poll() is None, f"the culprit of {fault} has ended"
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    @contextlib.contextmanager
    def server(self, fault):
        """A server with this fault on a port of its own, until the block ends."""
        server = BadServer(fault)
        try:
            yield server
            assert server.process.poll() is None, f"the server of {fault} has ended"
        finally:
            server.close()

    def measure(self, seconds=MEASURED, calls=CALLS, look=lambda: None):
        """Lets the neighbour make these calls for some seconds, looks on again and again, and returns what was measured."""
        began = time.time()
        process = subprocess.Popen(
            [sys.executable, "-B", HERE / "neighbour.py", self.daemon.socket, ITS_APP, SWITCHED, ",".join(calls)],
            user=VICTIM, group=VICTIM, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/",
        )  # fmt: skip
        most, statuses = 0, []
        end, overtime = Bound(seconds), Bound(seconds + START * SLACK)
        try:
            # Two starts have a time between them, and each may be late within its bound.
            while end.left or (overtime.left and len(self.starts_since(began)) < 2):
                most = max(most, megabytes(self.daemon.pid))
                look()
                asked = time.monotonic()
                with contextlib.closing(self.daemon.client.send(("org.refreshd.Manager.Status", {}))) as connection:
                    assert "error" not in answers(connection)[0]
                statuses.append(time.monotonic() - asked)
                select_for(LOOK)
            report = json.loads(process.communicate(timeout=60)[0])
        finally:
            process.kill()
            process.wait()
        return Measured(report, statuses, self.lateness(began), most)

    def lateness(self, since):
        """By how much each start of the neighbour's app came later than its interval after the start before, in seconds."""
        times = self.starts_since(since)
        gaps = [later - earlier - INTERVAL for earlier, later in zip(times, times[1:])]
        return [max(0, gap) for gap in gaps] + [max(0, time.time() - times[-1] - INTERVAL)] if times else [float("inf")]

    def starts_since(self, since):
        """When the neighbour's app was started, from an interval before an instant on, in seconds of the wall clock."""
        times = sorted(int(file.name) / 1e9 for file in self.starts.iterdir())
        return [instant for instant in times if instant >= since - INTERVAL]

    def holds_afterwards(self):
        """The daemon is the same process, answers root, and the neighbour's app goes on with whole records.

        At its end the store is whole and has every refresh of the neighbour's app.
        """
        daemon = self.daemon
        assert daemon.process.poll() is None, "the daemon has ended"
        assert daemon.call("Manager.Version")["start"] == 1
        started = len(list(self.starts.iterdir()))
        bound = Bound()
        while len(list(self.starts.iterdir())) < started + 2:
            assert bound.left, "the neighbour's app does not start any more"
            select_for(0.05)
        finished = [refresh["outcome"] for refresh in daemon.history(ITS_APP) if "outcome" in refresh]
        assert finished and set(finished) == {"new_data"} | set(finished) & {"no_data"}, finished
        Ledger(daemon, ITS_APP, self.starts).balances()


def select_for(seconds):
    """Waits between two looks at what has no event: memory in /proc, and files of tasks."""
    signal.sigtimedwait([], seconds)


class BadServer:
    def __init__(self, fault):
        self.fault = fault
        self.process = subprocess.Popen(
            [sys.executable, "-B", HERE / "bad_server.py", fault],
            user=CULPRIT, group=CULPRIT, extra_groups=[], stdout=subprocess.PIPE, cwd="/",
        )  # fmt: skip
        wait_for([self.process.stdout], f"the server of {fault}")
        self.port = int(self.process.stdout.readline())

    def wait_until_met(self):
        """Waits until the first client has met the fault."""
        wait_for([self.process.stdout], f"a client of the server of {self.fault}")
        assert self.process.stdout.readline() == b"met\n", f"the server cannot do {self.fault}"

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Measured:
    def __init__(self, report, statuses, lateness, most):
        # Root's, and the neighbour's.
        self.statuses, self.status = sorted(statuses), sorted(report["status"])
        self.asking, self.changing = sorted(report["asking"]), sorted(report["changing"])
        self.planning, self.failures = sorted(report["planning"]), report["failures"]
        self.lateness = sorted(lateness)
        self.megabytes = most

    def within_bounds(self, commit=0, refused="nothing", starts=True):
        """Asserts the bounds, on a disk that takes so many seconds for a commit.

        Calls may be refused with one error, and `starts` may be false, where a device makes them fail by design.
        """
        print(self)
        assert not [failure for failure in self.failures if not failure.endswith(f": {refused}")], self.failures[:3]
        assert len(self.asking) >= 2 and self.status, f"the neighbour did not get through: {self}"
        assert all(p99(answered) <= CALL * SLACK for answered in (self.asking, self.status, self.statuses)), self
        assert not self.changing or p99(self.changing) <= CALL * SLACK + commit, self
        assert not starts or len(self.lateness) >= 2, f"the neighbour's app was not started: {self}"
        assert not starts or p99(self.lateness) <= START * SLACK + commit, self
        assert self.megabytes <= MEGABYTES * (1 if SLACK == 1 else 2), self

    def __repr__(self):
        return (
            f"status: {said(self.status)}; asking: {said(self.asking)}; planning: {said(self.planning)}; "
            f"changing: {said(self.changing)}; root's status: {said(self.statuses)}; "
            f"{len(self.lateness)} starts: p99 {p99(self.lateness) * 1e3:.0f} ms late; {self.megabytes:.0f} MB"
        )


def said(calls):
    if not calls:
        return "none"
    return f"{len(calls)}, p50 {statistics.median(calls) * 1e3:.1f} ms, p99 {p99(calls) * 1e3:.1f} ms"


def p99(values):
    return values[min(len(values) - 1, int(len(values) * 0.99))]


def megabytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0
