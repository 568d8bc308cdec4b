"""A user who asks too much: `culprit.py SOCKET FAULT APP`, until it is killed. It prints a line when the fault is there.

Each fault is one that a user without privileges can cause, with no more than the socket.
"""

import contextlib
import itertools
import json
import os
import pathlib
import resource
import selectors
import socket
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))

from lingering import lingering  # noqa: E402

FAULTS = {}


def fault(function):
    FAULTS[function.__name__] = function
    return function


def message(method, parameters=None, **flags):
    return json.dumps({"method": f"org.refreshd.{method}", "parameters": parameters or {}, **flags}).encode() + b"\0"


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(1)
    connection.connect(path)
    return connection


def pour(path, piece, connections=8):
    """Sends calls without reading the replies, over several connections; a connection that is closed is opened again."""
    announce()
    links = []
    while True:
        while len(links) < connections:
            links.append(try_to_connect(path))
        for index, link in enumerate(links):
            try:
                link.setblocking(False)
                link.send(piece)
            except BlockingIOError:
                drain(link)
            except OSError:
                links[index] = try_to_connect(path)
        time.sleep(0.001)


def drain(link):
    try:
        link.recv(1 << 20)
    except OSError:
        pass  # there is no reply yet, or the connection has ended: the next send tells


def try_to_connect(path):
    """A refused connection is what the daemon may answer to a flood: try again later, as a bad program would."""
    while True:
        try:
            return connect(path)
        except OSError:
            time.sleep(0.01)


def announce():
    print("ready", flush=True)


def hold(path, piece, count):
    """Opens many connections with a call on each, and keeps them. Reopens what the daemon closes."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    links = []
    for _ in range(min(count, limit - 64)):
        try:
            link = connect(path)
            link.sendall(piece)
        except OSError:
            continue
        links.append(link)
    announce()
    for index in itertools.cycle(range(len(links))):
        time.sleep(0.001)
        try:
            links[index].setblocking(False)
            if links[index].recv(65536):
                continue
        except BlockingIOError:
            continue
        except OSError:
            pass  # the daemon closed it
        try:
            links[index] = connect(path)
            links[index].sendall(piece)
        except OSError:
            continue


@fault
def watches(path, app):
    hold(path, message("Manager.Watch", more=True), 1024)


@fault
def silence(path, app):
    hold(path, b"", 5000)


@fault
def forecasts(path, app):
    pour(path, message("Manager.Forecast", {"hours": 168}) * 50)


@fault
def timelines(path, app):
    pour(path, message("Manager.Timeline", {"app": app, "since_us": 0}) * 50)


@fault
def repetitions(path, app):
    pour(path, message("Manager.Set", {"apps": [app] * 50_000}), connections=2)


@fault
def runs(path, app):
    pour(path, message("Manager.Run", {"app": app}, more=True) * 100)


@fault
def lists(path, app):
    enqueue(path, app)
    pour(path, message("Transfers.List") * 500)


@fault
def oneways(path, app):
    pour(path, message("Manager.List", oneway=True) * 500)


@fault
def signals(path, app):
    pour(path, (message("App.Signal", {"app": app, "signal": "foreground"})
                + message("App.Signal", {"app": app, "signal": "background"})) * 100)  # fmt: skip


@fault
def reasons(path, app):
    pour(path, message("Manager.Schedule", {"app": app, "earliest_us": 0, "reason": "x" * 500_000}), connections=2)


@fault
def transfers(path, app):
    pour(path, many_transfers(app, 200), connections=2)


@fault
def priorities(path, app):
    ids = enqueue(path, app)
    piece = b"".join(message("Transfers.SetPriority", {"ids": ids, "priority": each}) for each in (3, -3))
    pour(path, piece, connections=4)


@fault
def loop(path, app):
    """Takes time of two processors, as a fault and the daemon do: what the other faults are compared with."""
    first = os.getpid()
    if os.fork():
        announce()
    while first in (os.getpid(), os.getppid()):
        pass


@fault
def changes(path, app):
    """Fifty connections, with one valid change after another on each."""
    kinds = ("Set", {"background_interval": "1h"}), ("Disable", {}), ("Enable", {}), ("Skip", {})
    calls = itertools.cycle(message(f"Manager.{name}", {"apps": [app], **more}) for name, more in kinds)
    links = selectors.DefaultSelector()
    for _ in range(50):
        links.register(connect(path), selectors.EVENT_READ).fileobj.sendall(next(calls))
    announce()
    while True:
        for key, _ in links.select():
            assert (reply := key.fileobj.recv(65536)), "the daemon has closed the connection"
            if reply.endswith(b"\0"):
                key.fileobj.sendall(next(calls))


@fault
def bombs(path, app):
    """Writes thousands of changes over many connections and leaves, again and again."""
    piece = message("Manager.Set", {"apps": [app], "background_interval": "1h"}) * 200
    announce()
    while True:
        links = [try_to_connect(path) for _ in range(90)]
        for link in links:
            link.setblocking(False)
            with contextlib.suppress(OSError):
                link.send(piece)
        for link in links:
            link.close()
        time.sleep(0.2)


@fault
def churn(path, app):
    """Two processes that connect, call and close; only the second waits for its replies."""
    first = os.getpid()
    waits = os.fork() == 0
    if not waits:
        announce()
    while first in (os.getpid(), os.getppid()):
        with contextlib.suppress(OSError), contextlib.closing(connect(path)) as link:
            link.sendall(message("Manager.Version"))
            if waits:
                link.recv(65536)


@fault
def hang_ups(path, app):
    """Two processes that connect, call and leave."""
    first = os.getpid()
    if os.fork():
        announce()
    calls = itertools.cycle([message("Manager.Version"), message("Manager.Set", {"apps": [app], "background_interval": "1h"})])
    while first in (os.getpid(), os.getppid()):
        with contextlib.suppress(OSError), contextlib.closing(connect(path)) as link:
            link.sendall(next(calls))


@fault
def pushes(path, app):
    """Pushes of 4 kB to as many attached processes as an app may have."""
    links = selectors.DefaultSelector()
    for _ in range(16):
        links.register(connect(path), selectors.EVENT_READ).fileobj.sendall(message("App.Attach", {"app": app}, more=True))
    piece = message("App.Push", {"app": app, "payload": json.dumps({"x": "y" * 4000})})
    pusher = connect(path)
    links.register(pusher, selectors.EVENT_READ).fileobj.sendall(piece)
    announce()
    while True:
        for key, _ in links.select():
            assert (reply := key.fileobj.recv(65536)), "the daemon has closed the connection"
            if key.fileobj is pusher and reply.endswith(b"\0"):
                pusher.sendall(piece)


@fault
def plans(path, app):
    """Asks for the forecast, the state and the past of many apps, over and over."""
    calls = [("Forecast", {"hours": 168}), ("List", {}), ("Status", {}), ("Timeline", {"app": app, "since_us": 0})]
    links = selectors.DefaultSelector()
    for name, parameters in calls * 8:
        link = connect(path)
        piece = message(f"Manager.{name}", parameters)
        links.register(link, selectors.EVENT_READ, piece)
        link.sendall(piece)
    announce()
    while True:
        for key, _ in links.select():
            assert (reply := key.fileobj.recv(1 << 20)), "the daemon has closed the connection"
            if reply.endswith(b"\0"):
                key.fileobj.sendall(key.data)


@fault
def hoards(path, app):
    """Asks for a list, has as many watches as a user may, and reads nothing."""
    links = [connect(path) for _ in range(65)]
    links[0].sendall(message("Transfers.List"))
    for link in links[1:]:
        link.sendall(message("Transfers.Watch", more=True))
    links[0].settimeout(30)
    links[0].recv(1, socket.MSG_PEEK)
    announce()
    time.sleep(3600)


@fault
def descriptors(path, app):
    """Passes sockets whose last close waits for a peer that does not read."""
    with lingering() as send, contextlib.closing(connect(path)) as link:
        announce()
        while True:
            # A kernel with SO_PASSRIGHTS refuses to pass them.
            with contextlib.suppress(PermissionError, TimeoutError):
                send(lambda descriptor: socket.send_fds(link, [message("Manager.Version")], [descriptor]))
                link.recv(65536)
            time.sleep(0.1)


def many_transfers(app, count):
    """A call that enqueues transfers from as many missing servers."""
    request = {"path": "/tmp/nothing", "network": "none"}
    return message("Transfers.Enqueue", {"app": app, "transfers": [
        {**request, "url": f"http://127.0.0.{number % 250 + 1}:{number + 1}/"} for number in range(count)
    ]})  # fmt: skip


def enqueue(path, app):
    """Enqueues as many transfers as one call may, and returns their numbers."""
    link = connect(path)
    link.settimeout(60)
    link.sendall(many_transfers(app, 1000))
    with link.makefile("rb") as replies:
        answer = b""
        while not answer.endswith(b"\0"):
            piece = replies.read1()
            assert piece, "the daemon has closed the connection"
            answer += piece
    return json.loads(answer[:-1])["parameters"]["ids"]


if __name__ == "__main__":
    FAULTS[sys.argv[2]](sys.argv[1], sys.argv[3])
