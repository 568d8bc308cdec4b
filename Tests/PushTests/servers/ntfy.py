"""The part of an ntfy server that subscribers and publishers meet: the wire format of ntfy 2, and its cache.

    GET /TOPIC,TOPIC/json    JSON lines: `open`, then the messages of `since=`, then new messages and `keepalive`s
    GET /TOPIC,TOPIC/auth    200, or 403 for topics that must not all be read
    POST /TOPIC              a message; the headers Priority and X-UnifiedPush

`since=` is `all`, `none`, `latest`, a time, a duration or the id of a message. By an id, a subscriber gets the messages
that arrived at the server after it; all messages are newer than an unknown id. A scheduled message arrives when it is
published, and is sent, with that time, when it is due. Old messages are sent in the order of their times. A message of more than 4,096 bytes, or one that is no text, becomes an attachment; with X-UnifiedPush, a message
that is no text comes in base64.
"""

import base64
import contextlib
import http.server
import json
import random
import re
import secrets
import socket
import ssl
import string
import threading
import time
import urllib.parse

BOUND = 15
LONGEST = 4096
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Asked:
    """A request to subscribe, with its time (time.monotonic())."""

    def __init__(self, topics, since, authorization):
        self.topics = topics
        self.since = since
        self.authorization = authorization
        self.at = time.monotonic()
        self.status = None
        # The messages of before the request, and the number of messages that were sent before it.
        self.old, self.place = [], 0


class Ntfy:
    def __init__(self, certificates=None, address="127.0.0.1", keepalive=45):
        self.certificates = certificates
        self.address = address
        self.port = 0
        self.keepalive = keepalive
        # The cache, in the order of arrival.
        self.messages = []
        # The scheduled messages that are not due, and all messages in the order in which they were sent.
        self.scheduled = []
        self.sent = []
        # The number of old messages after which a stream stops; None for no stop.
        self.stops_after = None
        # Whether old messages of the same second are sent in any order.
        self.mixes_seconds = False
        self.asked = []
        # The authorization headers that may subscribe; if there are none, everybody may.
        self.accounts = set()
        # The topics that nobody may read.
        self.forbidden = set()
        # The answers to the next subscribers: a status and headers.
        self.refusals = []
        self.is_silent = False
        self.has_changed = threading.Condition()
        self.streams = set()
        self.start()

    # Start and stop. The cache survives a restart.

    def start(self):
        self.listener = Listener((self.address, self.port), Handler)
        self.listener.ntfy = self
        self.port = self.listener.server_address[1]
        if self.certificates:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(self.certificates.certificate, self.certificates.key)
            self.listener.context = context
        self.is_open = True
        self.thread = threading.Thread(target=self.listener.serve_forever, args=[0.02])
        self.thread.start()

    def stop(self):
        with self.has_changed:
            self.is_open = False
            self.has_changed.notify_all()
        self.listener.shutdown()
        self.thread.join()
        self.hang_up()
        self.listener.server_close()

    def close(self):
        if self.is_open:
            self.stop()

    def hang_up(self):
        """Ends all streams, as a proxy does at its time limit."""
        with self.has_changed:
            for stream in self.streams:
                # The client may have closed the connection.
                with contextlib.suppress(OSError):
                    stream.shutdown(socket.SHUT_RDWR)

    @property
    def url(self):
        return f"{'https' if self.certificates else 'http'}://{self.address}:{self.port}"

    def refuse(self, *answers):
        """Sets the answers to the next subscribers: a status, with headers if needed."""
        self.refusals += [answer if isinstance(answer, tuple) else (answer, {}) for answer in answers]

    def be_silent(self, is_silent=True):
        """Sends nothing more on any stream, not even keep-alives; connections stay open."""
        with self.has_changed:
            self.is_silent = is_silent
            self.has_changed.notify_all()

    def forget(self):
        """Expires the messages in the cache."""
        with self.has_changed:
            self.messages.clear()

    def let_go(self):
        """Sends the rest of the old messages on the streams that have stopped."""
        with self.has_changed:
            self.stops_after = None
            self.has_changed.notify_all()

    # Publishers.

    def publish(self, topic, body, priority=None, unified_push=False, is_scheduled=False):
        """Publishes a message, and returns it in the form that subscribers get.

        A scheduled message is due at `fall_due`."""
        body = body if isinstance(body, bytes) else body.encode()
        message = {"id": identifier(), "time": int(time.time()), "event": "message", "topic": topic}
        message["expires"] = message["time"] + 43200
        try:
            text = body.decode()
        except UnicodeDecodeError:
            text = None
        if len(body) <= LONGEST and text is not None:
            message["message"] = text
        elif len(body) <= LONGEST and unified_push:
            message |= {"message": base64.b64encode(body).decode(), "encoding": "base64"}
        else:
            name = "attachment.txt" if text is not None else "attachment.bin"
            file = {"name": name, "type": "text/plain", "size": len(body), "url": f"{self.url}/file/{message['id']}"}
            message |= {"message": f"You received a file: {name}", "attachment": file}
        if priority is not None:
            message["priority"] = priority
        with self.has_changed:
            self.messages.append(message)
            (self.scheduled if is_scheduled else self.sent).append(message)
            self.has_changed.notify_all()
        return message

    def fall_due(self, message):
        """Sends a scheduled message."""
        with self.has_changed:
            self.scheduled.remove(message)
            message["time"] = int(time.time())
            self.sent.append(message)
            self.has_changed.notify_all()

    def repeat(self, message):
        """Sends a message again with the same id."""
        with self.has_changed:
            self.messages.append(message)
            self.sent.append(message)
            self.has_changed.notify_all()

    def wait(self, what, condition, within=BOUND):
        """Waits until a condition on the requests to subscribe holds, and returns its value."""
        with self.has_changed:
            found = self.has_changed.wait_for(lambda: condition(self.asked), within)
            seen = [(asked.status, len(asked.topics), asked.since) for asked in self.asked]
        assert found, f"{what} did not come within {within} s; asked: {seen}"
        return found

    def is_asked_within(self, seconds):
        """Whether a request to subscribe arrives within the seconds."""
        with self.has_changed:
            seen = len(self.asked)
            return self.has_changed.wait_for(lambda: len(self.asked) > seen, seconds)

    def wait_for_subscriber(self, times=1):
        """Waits until a stream has opened for the given time, and returns its request."""
        return self.wait(
            f"subscriber {times}", lambda asked: [one for one in asked if one.status == 200][times - 1 : times]
        )[0]

    # Streams.

    def old(self, topics, since):
        """The messages of before a request, in the order in which the server sends them."""
        if since in (None, "none"):
            return []
        rows = self.messages
        if re.fullmatch(r"[-_A-Za-z0-9]{12}", since):
            rows = rows[next((at + 1 for at, one in enumerate(rows) if one["id"] == since), 0) :]
        elif since not in ("all", "latest"):
            if duration := re.fullmatch(r"(\d+)([smhd])", since):
                since = int(time.time()) - int(duration[1]) * UNITS[duration[2]]
            rows = [one for one in rows if one["time"] >= int(since)]
        rows = [one for one in rows if one["topic"] in topics and one not in self.scheduled]
        if since == "latest":
            rows = rows[-1:]
        # ntfy sorts by the time alone, and Go's sort may change the order of more than twelve.
        mixed = random.sample(rows, len(rows)) if self.mixes_seconds else rows
        return sorted(mixed, key=lambda one: one["time"])


class Listener(http.server.ThreadingHTTPServer):
    request_queue_size = 128
    context = None

    def finish_request(self, request, client_address):
        """Runs in the thread of the connection, so that a client that stops in the handshake blocks no other."""
        if not self.context:
            super().finish_request(request, client_address)
            return
        with self.context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request, client_address):
        """Ignores broken connections, which tests cause on purpose."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *words):
        pass

    @property
    def ntfy(self):
        return self.server.ntfy

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        priority = self.headers.get("Priority") or self.headers.get("X-Priority")
        message = self.ntfy.publish(
            self.path.strip("/"), body, priority and int(priority), self.headers.get("X-UnifiedPush") == "1"
        )
        self.answer(200, json.dumps(message))

    def do_GET(self):
        parts = urllib.parse.urlsplit(self.path)
        topics, _, kind = parts.path.strip("/").partition("/")
        query = urllib.parse.parse_qs(parts.query)
        asked = Asked(topics.split(","), query.get("since", [None])[0], self.headers.get("Authorization"))
        with self.ntfy.has_changed:
            status, headers = self.ntfy.refusals.pop(0) if self.ntfy.refusals else (200, {})
            if self.ntfy.accounts and asked.authorization not in self.ntfy.accounts:
                status = 403 if asked.authorization is None else 401
            if status == 200 and self.ntfy.forbidden.intersection(asked.topics):
                status = 403
            if kind == "auth":
                self.answer(status, json.dumps({"success": status == 200}))
                return
            asked.status = status if kind == "json" else 404
            # A publisher may send as soon as the subscriber is visible.
            asked.old, asked.place = self.ntfy.old(asked.topics, asked.since), len(self.ntfy.sent)
            self.ntfy.asked.append(asked)
            self.ntfy.has_changed.notify_all()
        if asked.status == 200:
            self.stream(asked)
        else:
            error = {"code": asked.status * 100 + 1, "http": asked.status, "error": "refused"}
            self.answer(asked.status, json.dumps(error), headers)

    def answer(self, status, text, headers={}):
        self.send_response(status)
        for name, value in {**headers, "Content-Type": "application/json", "Content-Length": len(text) + 1}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(text.encode() + b"\n")

    def stream(self, asked):
        ntfy = self.ntfy
        self.send_response(200)
        self.send_header("Content-Type", "application/x-ndjson; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        place = asked.place
        with ntfy.has_changed:
            ntfy.streams.add(self.connection)
        try:
            self.say("open", asked)
            for count, message in enumerate(asked.old):
                if count == ntfy.stops_after:
                    with ntfy.has_changed:
                        ntfy.has_changed.wait_for(lambda: not ntfy.is_open or ntfy.stops_after is None)
                self.chunk(message)
            while ntfy.is_open:
                with ntfy.has_changed:
                    changed = ntfy.has_changed.wait_for(
                        lambda: not ntfy.is_open or (len(ntfy.sent) > place and not ntfy.is_silent), ntfy.keepalive
                    )
                    new = [] if ntfy.is_silent else ntfy.sent[place:]
                    place += len(new)
                for message in new:
                    if message["topic"] in asked.topics:
                        self.chunk(message)
                if not changed and not ntfy.is_silent:
                    self.say("keepalive", asked)
        except OSError:
            pass
        finally:
            with ntfy.has_changed:
                ntfy.streams.discard(self.connection)
            self.close_connection = True

    def say(self, event, asked):
        self.chunk({"id": identifier(), "time": int(time.time()), "event": event, "topic": ",".join(asked.topics)})

    def chunk(self, message):
        # As Go writes it.
        line = json.dumps(message).encode() + b"\n"
        for byte in b"<>&":
            line = line.replace(bytes([byte]), b"\\u%04x" % byte)
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))


def identifier():
    return "".join(secrets.choice(string.ascii_letters + string.digits) for _ in range(12))
