"""A server that misbehaves on demand, and records requests and replies.

    GET /MODE/SIZE?setting=value        modes.py has the modes and the settings
"""

import base64
import fcntl
import hashlib
import http.server
import os
import select
import socket
import ssl
import struct
import termios
import threading
import time
import urllib.parse

from .body import Body
from .modes import HASTY, MODES, status

# How long a test waits for an expected event.
BOUND = 15
# A small send buffer, so that the client has received nearly all sent bytes.
BUFFER = 65536


class Asked:
    """A request and its result."""

    def __init__(self, method, target, headers, hit):
        self.method = method
        self.target = target
        parts = urllib.parse.urlsplit(target)
        self.path = parts.path
        query = urllib.parse.parse_qs(parts.query)
        self.extra = query.pop("header", [])
        self.settings = {name: values[0] for name, values in query.items()}
        self.headers = headers
        # The number of this request among those for its path, from 1.
        self.hit = hit
        self.start, self.last = span(headers.get("Range", ""))
        self.status = None
        # Bytes of the body that the client has received.
        self.sent = 0
        # The body of the request.
        self.received = 0
        self.sha256 = None
        # The gate at which the response waits.
        self.is_held = False
        # time.monotonic() at the end, and whether the client ended the connection.
        self.ended = None
        self.is_left = False

    @property
    def is_bad(self):
        """Whether the mode applies to this request."""
        return self.hit <= self.number("times", 1)

    def setting(self, name, otherwise):
        return self.settings.get(name, otherwise)

    def number(self, name, otherwise=0):
        return int(self.settings.get(name, otherwise))


def basic(credentials):
    """The Authorization header of a user and a password (RFC 7617)."""
    return "Basic " + base64.b64encode(credentials.encode()).decode()


def span(range):
    """The first and the last byte of a Range; the last is None for "until the end"."""
    if not range.startswith("bytes="):
        return None, None
    first, _, last = range.removeprefix("bytes=").partition("-")
    return int(first), int(last) if last else None


class Misbehaving:
    def __init__(self, address="127.0.0.1", certificates=None):
        """Speaks TLS with these certificates, and ends connections without a word of TLS about it."""
        self.address = address
        self.tls = None
        if certificates:
            self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.tls.load_cert_chain(certificates.certificate, certificates.key)
        self.requests = []
        self.has_changed = threading.Condition()
        self.gates = {}
        self.closing = os.eventfd(0, os.EFD_CLOEXEC)
        self.listener = Listener((address, 0), Handler)
        self.listener.server = self
        self.port = self.listener.server_address[1]
        self.thread = threading.Thread(target=self.listener.serve_forever, args=[0.05])
        self.thread.start()

    def url(self, mode, size=0, **settings):
        query = urllib.parse.urlencode(settings, doseq=True)
        scheme = "https" if self.tls else "http"
        return f"{scheme}://{self.address}:{self.port}/{mode}/{size}" + (f"?{query}" if query else "")

    def of(self, mode):
        """The requests of a mode so far."""
        with self.has_changed:
            return [asked for asked in self.requests if asked.path.startswith(f"/{mode}/")]

    def sent(self, mode):
        """The bytes of bodies that the server has sent in this mode."""
        return sum(asked.sent for asked in self.of(mode))

    def wait(self, what, condition, within=BOUND):
        """Waits until a condition on the requests is true, and returns its value."""
        with self.has_changed:
            found = self.has_changed.wait_for(lambda: condition(self.requests), within)
            seen = [(asked.method, asked.target, asked.status, asked.sent) for asked in self.requests]
        assert found, f"{what} did not come within {within} s; requests: {seen}"
        return found

    def wait_until_held(self, mode, times=1):
        """Waits until `count` responses of a mode are at their gate, and returns the last."""

        def held(requests):
            found = [asked for asked in requests if asked.path.startswith(f"/{mode}/") and asked.is_held]
            return found[times - 1 :]

        return self.wait(f"the hold of {mode}", held)[-1]

    def wait_for_end(self, asked):
        """Waits until the server or the client has ended a response."""
        self.wait(f"the end of {asked.target}", lambda _: asked.ended is not None)
        return asked

    def let_go(self, mode=None):
        """Opens the gate for the present and later responses of a mode."""
        for name in [mode] if mode else list(MODES):
            os.eventfd_write(self.gate(name), 1)

    def gate(self, mode):
        with self.has_changed:
            if mode not in self.gates:
                self.gates[mode] = os.eventfd(0, os.EFD_CLOEXEC)
            return self.gates[mode]

    def changes(self):
        with self.has_changed:
            self.has_changed.notify_all()

    def close(self):
        os.eventfd_write(self.closing, 1)
        self.listener.shutdown()
        self.thread.join()
        self.listener.server_close()
        for descriptor in [self.closing, *self.gates.values()]:
            os.close(descriptor)


class Listener(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    daemon_threads = False
    block_on_close = True

    def get_request(self):
        connection, address = super().get_request()
        if tls := self.server.tls:
            connection = tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        return connection, address

    def shutdown_request(self, request):
        linger = request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8)
        if linger == struct.pack("ii", 1, 0):
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request, client_address):
        """Prints no errors of broken connections, because the tests break them."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def setup(self):
        self.request.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        super().setup()

    def log_message(self, *words):
        pass

    def handle_one_request(self):
        """Does not wait for idle connections."""
        if self.wait(None, gate=None) == "heard":
            super().handle_one_request()
        else:
            self.close_connection = True

    def do_GET(self):
        mode = self.path.split("/")[1].partition("?")[0]
        if mode not in MODES:
            self.send_error(404)
            return
        server = self.server.server
        with server.has_changed:
            hits = [one for one in server.requests if one.path == urllib.parse.urlsplit(self.path).path]
            asked = Asked(self.command, self.path, self.headers, len(hits) + 1)
            server.requests.append(asked)
            server.has_changed.notify_all()
        try:
            self.answer(asked, mode)
        except (ConnectionError, TimeoutError):
            asked.is_left = True
            self.close_connection = True
        finally:
            asked.ended = time.monotonic()
            server.changes()

    do_HEAD = do_PUT = do_POST = do_PATCH = do_GET

    def answer(self, asked, mode):
        gate = self.server.server.gate(mode)
        if asked.method in ("PUT", "POST", "PATCH") and not (mode in HASTY and asked.is_bad):
            self.take(asked, gate)
        size = asked.path.split("/")[2] if asked.path.count("/") > 1 else "0"
        answer = MODES[mode](asked, Body(int(size or 0)))
        if "needs" in asked.settings and asked.headers["Authorization"] != basic(asked.settings["needs"]):
            answer = status(401, WWW_Authenticate="Basic realm=files")
        asked.status = answer.status
        if answer.status == 0:
            self.reset()
            return
        if answer.framing == "none":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2p1\r\n")
            self.close_connection = True
            return
        self.head(asked, answer)
        if asked.method != "HEAD" and answer.status != 304:
            self.send(asked, answer, gate)
        if mode == "early":
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_WR)
            while self.connection.recv(BUFFER):
                pass
        elif mode == "hasty" and asked.is_bad:
            self.drain()
            # The client receives the response before the end of the connection.
            self.wait(0.2, gate=None)
            self.reset()

    def head(self, asked, answer):
        self.send_response(answer.status)
        if answer.framing == "chunked":
            self.send_header("Transfer-Encoding", "chunked")
        elif answer.framing == "length":
            self.send_header("Content-Length", str(answer.end - answer.start))
        else:
            for length in answer.lengths:
                self.send_header("Content-Length", str(length))
            self.send_header("Connection", "close")
            self.close_connection = True
        for name, value in answer.headers.items():
            self.send_header(name, value)
        for line in asked.extra:
            self.send_header(*line.split(": ", 1))
        self.end_headers()

    def send(self, asked, answer, gate):
        rate = asked.number("rate")
        hold = asked.number("hold", -1)
        end = answer.end if answer.cut is None else min(answer.cut, answer.end)
        stops = sorted({end, *([hold] if answer.start <= hold < end else [])})
        place = answer.start
        for stop in stops:
            for piece in answer.body.pieces(place, stop):
                for small in pieces(piece, rate):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(small), small) if answer.framing == "chunked" else small)
                    asked.sent += len(small)
                    if rate and self.wait(len(small) / rate, gate=None) in ("left", "closing"):
                        raise ConnectionResetError
            place = stop
            if place == hold:
                self.hold(asked, gate)
        if answer.cut is not None:
            self.close_connection = True
            self.drain()
            if answer.by == "reset":
                self.reset()
            elif answer.by == "stall":
                asked.is_held = True
                self.server.server.changes()
                self.wait(None, gate)
        elif answer.framing == "chunked":
            self.wfile.write(b"0\r\n\r\n")

    def take(self, asked, gate):
        """Reads the body of an upload."""
        left = int(self.headers.get("Content-Length", 0))
        hold = asked.number("hold", -1)
        limit = asked.number("every", left) if asked.hit <= asked.number("times", 1) else left
        digest = hashlib.sha256()
        while left:
            if asked.received >= hold >= 0 and not asked.is_held:
                self.hold(asked, gate)
            piece = self.rfile.read1(min(left, BUFFER))
            if not piece:
                raise ConnectionResetError
            digest.update(piece)
            left -= len(piece)
            asked.received += len(piece)
            if asked.received >= limit and left:
                self.reset()
                raise ConnectionResetError
        asked.sha256 = digest.hexdigest()
        if self.wait(float(asked.setting("late", 0)), gate=None) in ("left", "closing"):
            raise ConnectionResetError

    def hold(self, asked, gate):
        self.drain()
        asked.is_held = True
        self.server.server.changes()
        if self.wait(None, gate) in ("left", "closing"):
            raise ConnectionResetError

    def drain(self):
        """Waits until the client's kernel has acknowledged all sent bytes."""
        while struct.unpack("i", fcntl.ioctl(self.connection, termios.TIOCOUTQ, b"\0" * 4))[0]:
            if self.wait(0.001, gate=None) in ("left", "closing"):
                raise ConnectionResetError

    def reset(self):
        """Ends the connection by a reset, as a crash does."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    def wait(self, seconds, gate):
        """Waits until the other side has left, a gate is open, or time is up; with neither, for more ("heard")."""
        poll = select.poll()
        is_idle = seconds is None and gate is None
        poll.register(self.connection, select.POLLRDHUP | (select.POLLIN if is_idle else 0))
        poll.register(self.server.server.closing, select.POLLIN)
        if gate is not None:
            poll.register(gate, select.POLLIN)
        events = dict(poll.poll(None if seconds is None else seconds * 1000))
        if self.server.server.closing in events:
            return "closing"
        if events.get(self.connection.fileno(), 0) & (select.POLLRDHUP | select.POLLHUP | select.POLLERR):
            return "left"
        if gate is not None and gate in events:
            return "open"
        return "heard" if events else "time"


def pieces(piece, rate):
    """Splits the body into pieces of a twentieth of a second each, if there is a rate."""
    step = max(1, rate // 20) if rate else len(piece)
    return [piece[place : place + step] for place in range(0, len(piece), step)] if step < len(piece) else [piece]
