"""A hostile client, as a process of its own: hostile.py SOCKET HOW CONNECTIONS MESSAGES.

    flood     sends the messages again and again on all connections, and reads what comes
    hang-up   sends the messages on one connection after the other, and hangs up without reading

MESSAGES is a file of messages with their NUL bytes. Prints a line when the first round is over.
"""

import contextlib
import pathlib
import selectors
import socket
import sys


def connect(path):
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(path)
    return connection


def flood(path, count, data):
    ready = selectors.DefaultSelector()
    for _ in range(count):
        connection = connect(path)
        connection.setblocking(False)
        ready.register(connection, selectors.EVENT_READ | selectors.EVENT_WRITE, [0])
    first = True
    while ready.get_map():
        for key, events in ready.select():
            try:
                if events & selectors.EVENT_READ and not key.fileobj.recv(1 << 20):
                    raise ConnectionError
                if events & selectors.EVENT_WRITE:
                    (sent,) = key.data
                    key.data[0] = (sent + key.fileobj.send(data[sent:])) % len(data)
            except BlockingIOError:
                pass
            except ConnectionError:
                ready.unregister(key.fileobj)
        if first:
            print("ready", flush=True)
            first = False


def hang_up(path, count, data):
    for number in range(count):
        with contextlib.closing(connect(path)) as connection, contextlib.suppress(ConnectionError):
            connection.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                sent = 0
                while sent < len(data):
                    sent += connection.send(data[sent:])
        if number == 0:
            print("ready", flush=True)


if __name__ == "__main__":
    path, how, count, messages = sys.argv[1:]
    {"flood": flood, "hang-up": hang_up}[how](path, int(count), pathlib.Path(messages).read_bytes())
