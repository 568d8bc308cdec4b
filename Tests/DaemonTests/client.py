"""The daemon's socket, through the independent client of the PyPI package `varlink`."""

import contextlib
import json
import os
import socket

import pytest
import varlink

from waiting import BOUND


class Client:
    """Calls methods by their short names, such as `Manager.Show`, each on a new connection."""

    def __init__(self, path):
        self.path = str(path)
        self.client = varlink.Client(address=f"unix:{path}")

    def connect(self):
        """A plain connection; reading from it times out."""
        connection = socket.socket(socket.AF_UNIX)
        # Waits while the daemon's queue of connections is full; with a timeout, connect(2) would fail at once.
        connection.connect(self.path)
        # The reply to `Run` waits for the whole refresh.
        connection.settimeout(2 * BOUND)
        return connection

    def open(self, interface):
        return self.client.open(f"org.refreshd.{interface}", connection=self.connect())

    def call(self, method, **parameters):
        """The reply as dictionaries."""
        interface, _, name = method.partition(".")
        with self.open(interface) as connection:
            return getattr(connection, name)(**parameters)

    def send(self, *calls):
        """Sends raw calls, each a method and its parameters, in one write; returns the connection."""
        connection = self.connect()
        connection.sendall(b"".join(message(*call) for call in calls))
        return connection

    def stream(self, method, **parameters):
        """The replies to a call with `more`."""
        interface, _, name = method.partition(".")
        return Stream(self.open(interface), name, parameters)


def message(method, parameters=None, **flags):
    """The bytes of a call on the wire."""
    call = {"method": method, "parameters": parameters or {}, **flags}
    return json.dumps(call).encode() + b"\0"


def answers(connection, count=1):
    """A number of messages from a plain connection; fewer if the connection ends before."""
    data = b""
    while data.count(b"\0") < count and (piece := connection.recv(65536)):
        data += piece
    return [json.loads(part) for part in data.split(b"\0") if part]


class Stream:
    """A call with `more`: its replies, until the connection is closed. The first reply has arrived."""

    def __init__(self, connection, name, parameters):
        self.connection = connection
        self.answers = getattr(connection, name)(_more=True, **parameters)
        self.first = next(self.answers)

    def __next__(self):
        return next(self.answers)

    def __iter__(self):
        yield self.first
        yield from self.answers

    def close(self):
        self.connection.close()


@contextlib.contextmanager
def fails(error, **parameters):
    """Expects a declared error with at least these parameters; returns all of them."""
    details = {}
    with pytest.raises(varlink.VarlinkError) as caught:
        yield details
    assert caught.value.error() == error
    details.update(caught.value.parameters() or {})
    assert {name: details.get(name) for name in parameters} == parameters


@contextlib.contextmanager
def as_user(uid, groups=()):
    """Connects as another user inside the block: the socket has the credentials of connect(2) (unix(7))."""
    own_groups = os.getgroups()
    os.setgroups(list(groups))
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(own_groups)
