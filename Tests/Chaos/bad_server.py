"""A server that does its worst: `bad_server.py FAULT`, until it is killed. It prints its port, then a line for the first
client to which it has done it.
"""

import json
import socket
import sys
import threading
import time
import zlib

FAULTS = {}
PIECE = 1 << 16
ONCE = threading.Lock()


def fault(function):
    FAULTS[function.__name__] = function
    return function


def announce():
    """Tells the test, once, that a client has met the fault."""
    if ONCE.acquire(blocking=False):
        print("met", flush=True)


def request(connection):
    """The head of a request, as far as it comes."""
    data = b""
    while b"\r\n\r\n" not in data and (piece := connection.recv(PIECE)):
        data += piece
    return data


def send(connection, data):
    connection.sendall(data)
    announce()


def endlessly(connection, data, pause=0):
    """Sends this again and again, until the client leaves."""
    while True:
        send(connection, data)
        time.sleep(pause)


# HTTP.

OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"


@fault
def endless_header(connection):
    """The head has a line that does not end."""
    request(connection)
    connection.sendall(OK + b"X-Long: ")
    endlessly(connection, b"x" * PIECE)


@fault
def large_head(connection):
    """A head of a gigabyte."""
    request(connection)
    connection.sendall(OK)
    lines = b"".join(b"X-%d: %s\r\n" % (number, b"x" * 1000) for number in range(64))
    for _ in range((1 << 30) // len(lines)):
        send(connection, lines)


@fault
def slow_body(connection):
    request(connection)
    connection.sendall(OK + b"Content-Length: 1000000\r\n\r\n")
    endlessly(connection, b"x", pause=0.2)


@fault
def endless_body(connection):
    request(connection)
    connection.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n")
    endlessly(connection, b"%x\r\n%b\r\n" % (PIECE, bytes(PIECE)))


@fault
def endless_redirect(connection):
    number = 0
    while request(connection):
        number += 1
        send(connection, b"HTTP/1.1 302 Found\r\nLocation: /%d\r\nContent-Length: 0\r\n\r\n" % number)


@fault
def gzip_bomb(connection):
    """Each piece of the wire is a thousand pieces for who unpacks it."""
    request(connection)
    connection.sendall(OK + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n")
    packer = zlib.compressobj(9, wbits=31)
    head = packer.flush(zlib.Z_FULL_FLUSH)
    connection.sendall(b"%x\r\n%b\r\n" % (len(head), head))
    # A full flush begins anew, so that the same bytes may come again and again.
    data = packer.compress(bytes(16 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    endlessly(connection, b"%x\r\n%b\r\n" % (len(data), data))


@fault
def hang_up(connection):
    """Every client finds an end in place of an answer."""
    request(connection)
    announce()


# Event streams, and ntfy's lines of JSON.


@fault
def endless_line(connection):
    request(connection)
    connection.sendall(OK + b"\r\n" + b'data: {"')
    endlessly(connection, b"x" * PIECE)


@fault
def endless_event(connection):
    """Lines of data without the empty line that ends an event."""
    request(connection)
    connection.sendall(OK + b"\r\n")
    endlessly(connection, (b"data: " + b"x" * 1000 + b"\n") * 60)


# MQTT.


def packet(connection):
    """The kind and the body of a client's packet."""
    head = connection.recv(1)
    if not head:
        raise EOFError
    size = shift = 0
    while True:
        byte = connection.recv(1)[0]
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            break
    body = b""
    while len(body) < size:
        body += connection.recv(size - len(body))
    return head[0] >> 4, body


def subscribed(connection):
    """Answers until the client has subscribed; returns the version of the protocol."""
    _, body = packet(connection)
    version = body[6]
    properties = b"\0" if version == 5 else b""
    connection.sendall(bytes([0x20, 2 + len(properties), 0, 0]) + properties)
    _, body = packet(connection)
    connection.sendall(bytes([0x90, 3 + len(properties)]) + body[:2] + properties + b"\1")
    return version


@fault
def endless_packet(connection):
    """Messages of 256 MB, the most that MQTT has, one after the other."""
    version = subscribed(connection)
    start = b"\0\1t" + (b"\0" if version == 5 else b"")
    size = (256 << 20) - 1
    while True:
        send(connection, b"\x30\xff\xff\xff\x7f" + start)
        rest = size - len(start)
        while rest:
            piece = bytes(min(rest, PIECE))
            connection.sendall(piece)
            rest -= len(piece)


@fault
def packets_of_nobody(connection):
    """Messages on a topic that no app has, as fast as they are taken."""
    version = subscribed(connection)
    body = b"\0\4none" + (b"\0" if version == 5 else b"") + b"{}"
    endlessly(connection, (bytes([0x30, len(body)]) + body) * 1000)


@fault
def ends_once_subscribed(connection):
    subscribed(connection)
    announce()


# The server of the neighbour, which does nothing wrong.


def good(connection):
    """An event stream with a push four times a second; its content id is the time, in nanoseconds."""
    request(connection)
    connection.sendall(OK + b"\r\n")
    while True:
        push = {"aps": {"content-available": 1}, "content-id": str(time.time_ns())}
        send(connection, b"data: %b\n\n" % json.dumps(push).encode())
        time.sleep(0.25)


def serve(connection, fault):
    with connection:
        try:
            fault(connection)
        except (OSError, EOFError, IndexError, ValueError):
            pass  # the client has left


def main():
    fault = good if sys.argv[1] == "good" else FAULTS[sys.argv[1]]
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            connection, _ = listener.accept()
            threading.Thread(target=serve, args=[connection, fault], daemon=True).start()


if __name__ == "__main__":
    main()
