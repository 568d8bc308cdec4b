"""While one user asks for much, another waits little longer than beside a program of that user that asks for nothing.

A loop takes as much of the processors as the fault does, so what other load there is counts on both sides.
"""

import contextlib
import http.server
import itertools
import pathlib
import pwd
import threading
import time

import pytest

from client import answers, as_user
from daemon import HURRY, finished
from leases import leased  # noqa: F401
from processes import status
from stand import BAD, CALLS, CULPRIT, ITS_APP, MEGABYTES, SLACK, START, VICTIM, megabytes, p99, said, select_for
from waiting import Bound

SECONDS = 2.5
"""How long the fault lasts, and the loop before it and after it."""

LATER = START if SLACK == 1 else 4 * START
"""How much later than beside a loop a start may come, in seconds."""

TIMES = 3 if SLACK == 1 else 9
"""How many times as long as beside a loop a call may take."""

APPS = 3000 if SLACK == 1 else 1000
"""How many apps a user has who asks for their plans."""

LEAST = 0.05
"""A shorter wait is nobody's trouble, so the loop's counts as this, in seconds."""

ASKED = [*CALLS, "Forecast"]


def beside(stand, fault):
    with stand.culprit(fault):
        return stand.measure(SECONDS, ASKED)


def beside_a_task(stand):
    """Measures while the culprit's task is starting or running."""
    with as_user(CULPRIT):
        stream = stand.daemon.run(BAD)
    measured = stand.measure(SECONDS, ASKED)
    assert stand.daemon.show(BAD)["running"], "the task has ended, so the fault is over"
    stand.daemon.call("Manager.Disable", apps=[BAD])
    finished(stream)
    stand.daemon.call("Manager.Enable", apps=[BAD])
    return measured


def beyond(measured, loops):
    """The bounds that do not hold beside the fault, in words; without loops, those beside a loop for which nobody waits."""
    broken = []
    for kind in "status", "asking", "planning", "changing":
        control = max([LEAST, *(p99(getattr(loop, kind) or [0]) for loop in loops)])
        if not getattr(measured, kind) or p99(getattr(measured, kind)) > TIMES * control:
            broken.append(f"{kind} over {TIMES * control * 1e3:.0f} ms")
    control = max((p99(loop.lateness) for loop in loops), default=0)
    if not measured.lateness or p99(measured.lateness) > control + LATER:
        broken.append(f"starts over {(control + LATER) * 1e3:.0f} ms late")
    if measured.megabytes > MEGABYTES * (1 if SLACK == 1 else 2):
        broken.append(f"{measured.megabytes:.0f} MB")
    return ", ".join(broken)


def excess(stand, fault=None, compares=True):
    """The bounds that do not hold beside the fault, or the culprit's task, in words; empty if all hold."""
    loops = [beside(stand, "loop")] if compares else []
    measured = beside(stand, fault) if fault else beside_a_task(stand)
    loops += [beside(stand, "loop")] if compares else []
    print(f"{fault or 'task'}: {measured}", *loops, sep="\n  ")
    assert not measured.failures, measured.failures[:3]
    return f"{words}: {measured}" if (words := beyond(measured, loops)) else ""


def holds(stand, fault=None):
    # Most faults are within the bounds whatever a loop costs, so there is nothing to compare them with.
    if excess(stand, fault, compares=False):
        # A second look, because another program may have come between.
        assert not excess(stand, fault) or not (words := excess(stand, fault)), words
    stand.holds_afterwards()


@pytest.mark.bound(60)
@pytest.mark.parametrize("fault", ["changes", "bombs", "churn", "hang_ups", "pushes", "plans", "descriptors"])
def test_a_user_waits_little_longer_than_beside_a_loop(stand, fault):
    stand.start(more=APPS if fault == "plans" else 0)
    holds(stand, fault)


@pytest.mark.bound(60)
@pytest.mark.parametrize("condition", ["none", "when", "reachable"])
def test_a_user_does_not_wait_for_the_slot_of_another(stand, files, condition):
    """Nor does an app that starts only after a yes of a command or a server."""
    stand.keys = {"none": {}, "when": {"when": ["true"]}, "reachable": {"reachable": f"127.0.0.1:{files.port}"}}[condition]
    stand.daemon.configure(HURRY + "max_concurrent = 1\n")
    stand.start("exec sleep 1000", deadline="10min", grace="0s")
    holds(stand)


class Files(http.server.ThreadingHTTPServer):
    """A server whose only file has five bytes."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "5")
            self.end_headers()
            self.wfile.write(b"small")

        def log_message(self, *words):
            pass

    def __init__(self):
        super().__init__(("127.0.0.1", 0), self.Handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture
def files():
    with Files() as server:
        yield server
        server.shutdown()


class Downloads:
    """The neighbour's small downloads, one after the other, and the culprit's slow ones."""

    def __init__(self, stand, small, slow):
        self.stand, self.daemon = stand, stand.daemon
        self.small = f"http://127.0.0.1:{small}/"
        # As many as may run at once, and as many of one server.
        self.slow = [f"http://127.0.0.1:{slow}/"] * 6 + [f"http://localhost:{slow}/"] * 2
        self.folder = stand.daemon.directory / "files"
        self.folder.mkdir()
        self.folder.chmod(0o777)
        self.names = itertools.count()

    def enqueue(self, uid, app, *urls):
        requests = [{"url": url, "path": str(self.folder / str(next(self.names))), "network": "none"} for url in urls]
        with as_user(uid):
            return self.daemon.call("Transfers.Enqueue", app=app, transfers=requests)["ids"]

    def wait(self, uid, app, ids, state):
        """Waits until transfers have this state, and returns their results."""
        with as_user(uid):
            stream = self.daemon.client.stream("Transfers.Watch", app=app)
        results, bound = {}, Bound()
        with contextlib.closing(stream):
            for answer in stream:
                for transfer in answer["transfers"]:
                    if transfer["id"] in ids and transfer["state"] == state:
                        results[transfer["id"]] = transfer.get("result")
                if results.keys() >= set(ids):
                    return set(results.values())
                assert bound.left, f"of {ids} only {sorted(results)} are {state}"
        raise AssertionError("the daemon has ended")

    def measure(self):
        """How long the neighbour's downloads take for some seconds, shortest first, in seconds."""
        took, end = [], Bound(SECONDS)
        while end.left:
            began = time.monotonic()
            ids = self.enqueue(VICTIM, ITS_APP, self.small)
            assert self.wait(VICTIM, ITS_APP, ids, "ended") == {"done"}
            took.append(time.monotonic() - began)
        return sorted(took)

    def beside_a_loop(self):
        with self.stand.culprit("loop"):
            return self.measure()

    def beside_slow_ones(self):
        ids = self.enqueue(CULPRIT, BAD, *self.slow)
        self.wait(CULPRIT, BAD, ids, "transferring")
        took = self.measure()
        with as_user(CULPRIT):
            states = [each["state"] for each in self.daemon.call("Transfers.List", app=BAD)["transfers"] if each["id"] in ids]
            self.daemon.call("Transfers.Cancel", ids=ids)
        assert states == ["transferring"] * len(ids), "the slow ones have ended, so the fault is over"
        self.wait(CULPRIT, BAD, ids, "ended")
        return took

    def excess(self, compares=True):
        """The bound that does not hold beside the slow downloads, in words; empty if it holds."""
        before = self.beside_a_loop() if compares else [0]
        took = self.beside_slow_ones()
        after = self.beside_a_loop() if compares else [0]
        print("downloads", *(said(each) for each in (took, before, after)), sep="\n  ")
        bound = max(p99(before), p99(after)) + LATER
        return f"over {bound * 1e3:.0f} ms: {said(took)}" if p99(took) > bound else ""

    def hold(self):
        # As in `holds`: most are within the bound of a loop beside which a download takes no time.
        if self.excess(compares=False):
            assert not self.excess() or not (words := self.excess()), words


@pytest.mark.bound(60)
def test_a_users_download_does_not_wait_for_the_slow_ones_of_another(stand, files):
    stand.start()
    with stand.server("slow_body") as slow:
        Downloads(stand, files.port, slow.port).hold()
    stand.holds_afterwards()


@pytest.mark.bound(60)
def test_a_user_does_not_wait_for_the_owner_of_a_lease(stand, leased):  # noqa: F811
    stand.start({"name": "load", "run": [str(leased)]}, deadline="10min", grace="0s")
    holds(stand)


def fill(daemon, app):
    """Enqueues as many transfers as the bounds admit to one of four users."""
    for first in range(0, 5000, 500):
        transfers = [
            {"url": f"http://127.0.0.{number % 250 + 1}/{number}", "path": f"/tmp/never/{number}", "network": "wifi",
             "description": "x" * 1000}
            for number in range(first, first + 500)
        ]  # fmt: skip
        with contextlib.closing(daemon.client.send(("org.refreshd.Transfers.Enqueue", {"app": app, "transfers": transfers}))) as link:
            if "error" in (reply := answers(link)[0]):
                assert reply["error"] == "org.refreshd.Transfers.QueueFull", reply
                break


@pytest.mark.bound(120)
def test_full_queues_and_unread_replies_stay_small(stand):
    """The memory that the connections of four users took is given back when they are gone."""
    daemon, apps = stand.daemon, {pwd.getpwnam(name).pw_uid: f"org.example.{name}" for name in ("bin", "sys", "mail", "lp")}
    for uid, app in apps.items():
        daemon.app("true", id=app, owner=str(uid), directory="/")
    stand.start()
    for uid, app in apps.items():
        with as_user(uid):
            fill(daemon, app)
    kept, resident = megabytes(daemon.pid), status(daemon.pid, "VmRSS")
    # From now on the kernel counts the most that is resident (proc_pid_clear_refs(5)).
    pathlib.Path(f"/proc/{daemon.pid}/clear_refs").write_text("5")
    with contextlib.ExitStack() as stack:
        for uid, app in apps.items():
            stack.enter_context(stand.culprit("hoards", app, uid))
        measured = stand.measure(SECONDS)
    assert not measured.failures, measured.failures[:3]
    most = kept + (status(daemon.pid, "VmHWM") - resident) / 1024
    print(f"{kept:.0f} MB, then up to {most:.0f} MB: {measured}")
    assert most <= MEGABYTES
    bound = Bound()
    while megabytes(daemon.pid) > kept + 4:
        assert bound.left, f"{megabytes(daemon.pid):.0f} MB, and {kept:.0f} MB before"
        select_for(0.05)
