"""The daemon's socket, through the independent client of the PyPI package `varlink`."""

import contextlib
import json
import os
import socket

import pytest
import varlink

from waiting import BOUND


class Client:
    """Calls methods by their short names, `Manager.Show`, on connections of their own."""

    def __init__(self, path):
        self.path = str(path)
        self.client = varlink.Client(address=f"unix:{path}")

    def connect(self):
        """A plain connection, on which no answer is waited for longer than the bound."""
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(BOUND)
        connection.connect(self.path)
        return connection

    def open(self, interface):
        return self.client.open(f"org.refreshd.{interface}", connection=self.connect())

    def call(self, method, **parameters):
        """The answer, in dictionaries."""
        interface, _, name = method.partition(".")
        with self.open(interface) as connection:
            return getattr(connection, name)(**parameters)

    def send(self, *calls):
        """Sends raw calls, each a method and its parameters, in one go, and gives the connection."""
        connection = self.connect()
        connection.sendall(b"".join(message(*call) for call in calls))
        return connection

    def stream(self, method, **parameters):
        """The answers of a call with `more`."""
        interface, _, name = method.partition(".")
        return Stream(self.open(interface), name, parameters)


def message(method, parameters=None, **flags):
    """A call as it is on the wire."""
    call = {"method": method, "parameters": parameters or {}, **flags}
    return json.dumps(call).encode() + b"\0"


def answers(connection, count=1):
    """So many messages from a plain connection; fewer if it ends before."""
    data = b""
    while data.count(b"\0") < count and (piece := connection.recv(65536)):
        data += piece
    return [json.loads(part) for part in data.split(b"\0") if part]


class Stream:
    """A call with `more`: answers as they come, until the connection is closed. The first has come already."""

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
    """Expects a declared error with at least these parameters; gives all of them."""
    details = {}
    with pytest.raises(varlink.VarlinkError) as caught:
        yield details
    assert caught.value.error() == error
    details.update(caught.value.parameters() or {})
    assert {name: details.get(name) for name in parameters} == parameters


@contextlib.contextmanager
def as_user(uid, groups=()):
    """Connects as another user meanwhile: the socket's credentials are those at connect(2) (unix(7))."""
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
