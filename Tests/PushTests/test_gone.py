"""An unreachable server costs next to nothing: the back-off and the network policy bound the bridge's work."""

import os
import socket
import threading

import pytest

from bridge import App, push
from daemon import HURRY, TODO
from processes import cpu
from servers.ntfy import Ntfy
from servers.ports import free_port

# The back-off is a random part of 1 s, 2 s, 4 s and so on. Twelve attempts in so few seconds would need a random value
# in the first eighth of each longer wait.
SECONDS, ATTEMPTS = 10, 12
# The bound on processor time of bridge and daemon, in seconds: an attempt by TLS takes some 20 ms, more on a busy
# machine. Waiting takes none. A busy loop would take all of the time.
COST = 0.6


class Door:
    """A port that counts connections and closes each at once."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.count = 0
        self.has_changed = threading.Condition()
        self.thread = threading.Thread(target=self.answer)
        self.thread.start()

    def answer(self):
        while True:
            try:
                self.listener.accept()[0].close()
            except OSError:
                return
            with self.has_changed:
                self.count += 1
                self.has_changed.notify_all()

    def comes_to(self, count, within):
        """Whether this number of connections arrives within the seconds."""
        with self.has_changed:
            return self.has_changed.wait_for(lambda: self.count >= count, within)

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()


@pytest.fixture
def door():
    door = Door()
    yield door
    door.close()


class Abyss:
    """A port that does not answer, like that of a machine that is off: its queue of connections is full."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(0)
        self.address = self.listener.getsockname()
        self.port = self.address[1]
        self.waiting = [socket.socket() for _ in range(2)]
        for one in self.waiting:
            one.setblocking(False)
            one.connect_ex(self.address)

    def close(self):
        for one in [self.listener, *self.waiting]:
            one.close()


@pytest.fixture
def abyss():
    abyss = Abyss()
    yield abyss
    abyss.close()


def sources(kind, port):
    web = {"url": f"https://127.0.0.1:{port}"}
    keys = {
        "ntfy": {**web, "topics": {TODO: "upTodo0123456"}},
        "sse": {**web, "app": TODO},
        "mqtt": {"host": "127.0.0.1", "port": port},
    }
    return {kind: {"name": "gone", **keys[kind]}}


KINDS = pytest.mark.parametrize("kind", ["ntfy", "sse", "mqtt"])


@KINDS
def test_a_server_that_turns_everybody_away_is_asked_ever_less(daemon, app, bridge, door, kind):
    daemon.start()
    bridge.configure(**sources(kind, door.port))
    bridge.start()
    assert door.comes_to(2, within=15), "it did not try again"
    spent, seen = cpu(bridge.pid) + cpu(daemon.pid), door.count
    assert not door.comes_to(seen + ATTEMPTS, within=SECONDS), f"{ATTEMPTS} attempts in {SECONDS} s"
    assert cpu(bridge.pid) + cpu(daemon.pid) - spent < COST
    source = bridge.wait_until_lost("gone")
    assert source["received"] == 0 and source["problem"]


@KINDS
def test_a_port_that_nobody_listens_on_is_tried_ever_less(daemon, app, bridge, door, kind):
    """The kernel refuses the connections, so the test measures processor time."""
    daemon.start()
    bridge.configure(**sources(kind, free_port()))
    bridge.start()
    bridge.wait_until_lost("gone")
    spent = cpu(bridge.pid) + cpu(daemon.pid)
    door.comes_to(1, within=SECONDS)
    assert cpu(bridge.pid) + cpu(daemon.pid) - spent < COST


@KINDS
def test_a_server_that_answers_nothing_costs_nothing_and_holds_up_nobody(daemon, app, bridge, ntfy, abyss, kind):
    daemon.start()
    gone = sources(kind, abyss.port)
    here = {
        "name": "here", "url": ntfy.url, "topics": {TODO: "upTodo0123456"}, "ca_file": str(ntfy.certificates.authority),
    }  # fmt: skip
    gone["ntfy"] = [*([gone["ntfy"]] if kind == "ntfy" else []), here]
    bridge.configure(**gone)
    bridge.start()
    ntfy.wait_for_subscriber()
    spent = cpu(bridge.pid) + cpu(daemon.pid)
    assert not ntfy.is_asked_within(SECONDS)
    assert cpu(bridge.pid) + cpu(daemon.pid) - spent < COST
    ntfy.publish("upTodo0123456", push(1))
    assert app.ids() == ["1"]
    # The bridge ends without waiting for the missing answer.
    assert bridge.stop() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make networks")
@pytest.mark.parametrize("network", ["any", "none"])
def test_a_cable_that_is_pulled_costs_nothing_and_what_came_comes_when_it_is_back(daemon, bridge, cable, network):
    """If the policy needs a network, the bridge closes its connections. Otherwise they are silent until a new network."""
    app = App(daemon)
    server = Ntfy(address=cable.near_address)
    inside = ["ip", "netns", "exec", cable.NAME]
    try:
        daemon.configure(HURRY + f'[push]\nnetwork = "{network}"\n')
        daemon.start(prefix=inside)
        bridge.configure(ntfy={"name": "home", "url": server.url, "topics": {TODO: "upTodo0123456"}})
        bridge.start(prefix=inside)
        server.wait_for_subscriber()
        server.publish("upTodo0123456", push(1))
        assert app.ids() == ["1"]
        bridge.wait_until_connected("home")
        cable.pull()
        if network == "any":
            lost = bridge.wait_for("home", "lost", lambda source: not source["is_connected"])
            assert "retry_us" not in lost and not daemon.status()["push"]["may_connect"]
        server.publish("upTodo0123456", push(2))
        spent = cpu(bridge.pid) + cpu(daemon.pid)
        assert not server.is_asked_within(SECONDS / 2)
        assert cpu(bridge.pid) + cpu(daemon.pid) - spent < COST
        cable.plug()
        assert app.ids() == ["2"]
        app.no_more()
    finally:
        server.close()
