"""Clients that ask for much at once and hang up: what they began ends with them."""

import contextlib
import random

from client import answers, message
from daemon import MAIL, TODO

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
