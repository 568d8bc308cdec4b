"""Clients that ask for much at once and hang up: what they began ends with them."""

import contextlib
import os
import random
import signal
import subprocess
import sys

import pytest

from client import answers, message
from daemon import MAIL, TODO
from waiting import Bound

# Calls that take long, that go on, or that wait for another.
CALLS = [
    message("org.refreshd.App.Attach", {"app": TODO}, more=True),
    message("org.refreshd.Manager.Watch", more=True),
    message("org.refreshd.Manager.Forecast"),
    message("org.refreshd.Manager.History", {"app": TODO}),
    message("org.refreshd.Manager.Run", {"app": MAIL}, more=True),
    message("org.refreshd.Transfers.Watch", more=True),
    message("org.refreshd.Transfers.List"),
    message("org.refreshd.Transfers.List", oneway=True),
    message("org.refreshd.App.Signal", {"app": MAIL, "signal": "launched", "lease": True}, more=True),
    message("org.refreshd.Manager.Version"),
    b"junk\0",
]
WATCHES = 64


def test_a_user_has_all_again_after_clients_that_hung_up(daemon):
    """All watches and the place for work are free again, and no app is held by a client that is gone."""
    daemon.app("exit 100", id=TODO)
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    chance = random.Random(7)
    for _ in range(3000):
        with contextlib.closing(daemon.client.connect()) as connection, contextlib.suppress(OSError):
            connection.sendall(b"".join(chance.choices(CALLS, k=chance.randint(1, 12))))
            if chance.random() < 0.3:
                connection.settimeout(0.002)
                connection.recv(100)
    with contextlib.ExitStack() as stack:
        for _ in range(WATCHES):
            connection = stack.enter_context(contextlib.closing(daemon.client.connect()))
            connection.sendall(message("org.refreshd.Manager.Watch", more=True))
            assert "error" not in answers(connection)[0]
    assert "wakes" in daemon.call("Manager.Forecast")
    assert daemon.show(MAIL)["phase"] == "background"


# For each app a process that makes one call and ends at once; its parent waits for it now or later.
ONE_WAY = """
import os, socket, sys
path, waits, *calls = sys.argv[1:]
for call in calls:
    child = os.fork()
    if not child:
        client = socket.socket(socket.AF_UNIX)
        client.connect(path)
        client.sendall(call.encode() + b"\\0")
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | (0 if waits == "True" else os.WNOWAIT))
print("ended", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("uid, waits", [(0, True), (65534, False)], ids=["reaped", "zombie"])
def test_calls_of_processes_that_have_ended_count(daemon, uid, waits):
    """The daemon reads them only after the end of their callers, as may happen to `varlinkctl call --oneway`."""
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 15):
        pytest.skip("older kernels forget the cgroup of a process when its parent has waited for it")
    ids = [f"org.example.app{number}" for number in range(20)]
    for id in ids:
        daemon.app("exit 100", id=id, owner="nobody", directory="/")
    daemon.start()
    calls = [message("org.refreshd.App.Signal", {"app": id, "signal": "foreground"}, oneway=True)[:-1] for id in ids]
    daemon.signal(signal.SIGSTOP)
    with subprocess.Popen(
        [sys.executable, "-c", ONE_WAY, daemon.socket, str(waits), *calls],
        user=uid, group=uid, extra_groups=[], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as callers:  # fmt: skip
        try:
            assert callers.stdout.readline() == b"ended\n"
        finally:
            daemon.signal(signal.SIGCONT)
        bound = Bound()
        while missing := [id for id in ids if daemon.show(id)["phase"] != "foreground"]:
            assert bound.left, f"the calls for {missing} were lost"
        callers.stdin.close()
