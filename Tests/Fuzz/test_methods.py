"""Every method of every interface, with parameters built from its description, by several users at once."""

import contextlib
import json
import os
import select
import socket

import interfaces
import pytest
import varlink
from client import as_user, message
from daemon import MAIL, TODO
from promises import Promises
from rounds import rounds

NOBODY = 65534


@pytest.fixture
def known(daemon, scratch):
    """Values that mean something to the daemon, by the name of their field."""
    folder = scratch / "files"
    folder.mkdir()
    daemon.app("exit 100", grace="1s", deadline="5s")
    daemon.app("echo news; sleep 0.1", id=MAIL, background_interval="auto", background_floor="1s")
    apps = [TODO, MAIL, "org.example.none"]
    return {
        "app": apps,
        "apps": apps,
        "url": ["http://127.0.0.1:1/x", "https://user:secret@127.0.0.1:1/?q=1", "ftp://127.0.0.1/", "http://[::1]:1/"],
        "path": [str(folder / name) for name in "abc"],
        "payload": ['{"aps":{"content-available":1},"content-id":7}', '{"aps":{}}', "{}", "[]", "{"],
        "session": ["default", "night"],
        "ids": list(range(1, 30)),
        "id": ["one", "two", "1"],
        "priority": [-100, 0, 100],
        "signal": ["launched", "foreground", "background"],
        "for_us": [1, 1_000_000, 10**12],
        "days": [1, 7],
        "limit": [1, 10],
        "network": ["none", "none", "any"],
        "length": [0, 1000],
        "max_rate": [1000, 10**6],
        "tus": [False],
        "headers_file": [str(folder / "none")],
        "credential_file": [str(folder / "none")],
        "sha256": ["0" * 64],
        "method": ["PUT", "POST"],
    }


class Caller:
    """A connection, with the calls that have no answer yet."""

    def __init__(self, path, uid):
        self.connection = socket.socket(socket.AF_UNIX)
        with as_user(uid) if uid else contextlib.nullcontext():
            self.connection.connect(path)
        self.connection.setblocking(False)
        self.waiting = []
        self.data = b""

    def send(self, interface, method, parameters, flags):
        data = message(f"{interface.name}.{method.name}", parameters, **flags)
        try:
            # A daemon that does not read ends the round, not the test.
            if self.connection.send(data) < len(data):
                return False
        except (BlockingIOError, ConnectionError):
            return False
        if not flags.get("oneway"):
            self.waiting.append((interface, method, parameters))
        return True

    def read(self, what, patience):
        """Reads the answers so far and checks each, waiting for so many milliseconds for the first; returns false at
        the end of the connection."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        poll.poll(patience)
        try:
            piece = self.connection.recv(1 << 20)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        *whole, self.data = (self.data + piece).split(b"\0")
        for answer in map(json.loads, whole):
            assert self.waiting, (answer, what)
            interface, method, parameters = self.waiting[0]
            if not answer.get("continues"):
                self.waiting.pop(0)
            self.judge(answer, interface, method, f"{what}: {method.name} {str(parameters)[:2000]}")
        return bool(piece)

    @staticmethod
    def judge(answer, interface, method, what):
        if error := answer.get("error"):
            assert error in interfaces.ERRORS or error.startswith("org.varlink.service."), (answer, what)
        else:
            assert not interfaces.misfit(interface, method.out_type, answer.get("parameters", {})), (
                interfaces.misfit(interface, method.out_type, answer.get("parameters", {})), what,
            )  # fmt: skip

    def close(self):
        self.connection.close()


def call(random, known):
    interface, method = random.choice(interfaces.METHODS)
    parameters = interfaces.Maker(random, interface, known).make(method.in_type)
    return interface, method, parameters if isinstance(parameters, dict) else {}


def test_no_call_harms_the_daemon(daemon, known):
    daemon.start()
    promises = Promises(daemon)
    users = [0, 0, NOBODY] if os.geteuid() == 0 else [0]
    callers, what = [], "no round"
    for number, (what, random) in enumerate(rounds("methods", 0.35)):
        if len(callers) > 12:
            callers.pop(random.randrange(len(callers))).close()
        callers.append(Caller(str(daemon.socket), random.choice(users)))
        caller = random.choice(callers)
        for _ in range(random.randint(1, 20)):
            flags = {name: True for name, chance in (("oneway", 0.05), ("upgrade", 0.01)) if random.random() < chance}
            if not caller.send(*call(random, known), flags):
                break
        # A call with more may go on for ever, so none after it is answered.
        caller.send(*call(random, known), {"more": True} if random.random() < 0.4 else {})
        for one in list(callers):
            if not one.read(what, patience=20 if one is caller else 0):
                one.close()
                callers.remove(one)
        if number % 20 == 0:
            promises.check(what)
    for caller in callers:
        caller.close()
    resume(daemon)
    promises.conclude(what)


def resume(daemon):
    """Undoes what a caller may rightly do to all apps."""
    with contextlib.suppress(varlink.VarlinkError):
        daemon.call("Manager.Resume")
