"""The part of an MQTT broker that a subscriber needs, for behaviour that mosquitto cannot be configured to have: speak
only 3.1.1, forget acknowledgements, send too much, refuse a topic, disconnect a client, stay silent."""

import collections
import contextlib
import socket
import struct
import threading
import time

BOUND = 15
CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP, DISCONNECT = 1, 2, 3, 4, 8, 9, 12, 13, 14
V311, V5 = 4, 5

Connect = collections.namedtuple("Connect", "version client at")


class SmallBroker:
    def __init__(self, versions=(V311, V5), grants=1, says_no=True, hangs_up=True):
        """`grants` is the answer to a subscription: a quality of service, or a refusal from 128 on. `says_no` is whether the
        broker answers an unknown version, and `hangs_up` whether it closes the connection then."""
        self.versions = versions
        self.says_no = says_no
        self.hangs_up = hangs_up
        self.grants = grants
        # The versions of the connections.
        self.spoken = {}
        # The clients that sent a CONNECT, in order, accepted or not.
        self.connects = []
        # The acknowledged packet numbers.
        self.acknowledged = []
        self.subscriptions = []
        # The topic filters that no client may have.
        self.refused_topics = set()
        # Whether a client gets a topic with a slash for each dot, as RabbitMQ sends it.
        self.takes_dots_for_slashes = False
        self.sessions = set()
        # Whether the broker reads without answering.
        self.is_silent = False
        self.client = None
        self.has_changed = threading.Condition()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.threads = [threading.Thread(target=self.accept)]
        self.threads[0].start()

    def source(self, **keys):
        """The table [[mqtt]] of push.toml."""
        return {
            "name": "broker", "host": "127.0.0.1", "port": self.port, "tls": False, "topic": "test/{app}", **keys,
        }  # fmt: skip

    # Actions of a test.

    def send(self, topic, payload, packet, repeated=False, retained=False):
        """Sends a message with quality of service 1 to the subscribed client."""
        self.wait(lambda: self.client, "a client")
        head = PUBLISH << 4 | repeated << 3 | 1 << 1 | retained
        if self.takes_dots_for_slashes:
            topic = topic.replace(".", "/")
        properties = b"\0" if self.spoken[self.client] == V5 else b""
        self.write(self.client, head, text(topic) + struct.pack(">H", packet) + properties + payload.encode())

    def send_bytes(self, *parts):
        """Sends bytes to the subscribed client, which may close the connection meanwhile."""
        self.wait(lambda: self.client, "a client")
        with contextlib.suppress(OSError):
            for part in parts:
                self.client.sendall(part)

    def dismiss(self, code):
        """Ends the connection with the reason code of MQTT 5."""
        client = self.forget()
        self.write(client, DISCONNECT << 4, bytes([code, 0]))
        self.end(client)

    def hang_up(self):
        """Ends the connection without a reason code."""
        self.end(self.forget())

    def wait_for_acknowledgement(self, count=1):
        self.wait(lambda: len(self.acknowledged) >= count, f"{count} acknowledgements")

    def wait_for_connects(self, count):
        self.wait(lambda: len(self.connects) >= count, f"{count} connects")

    def wait_for_client(self):
        self.wait(lambda: self.client, "a client")

    def wait(self, condition, what):
        with self.has_changed:
            assert self.has_changed.wait_for(condition, BOUND), f"{what} did not come: {self.connects}"

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.threads[0].join()
        for thread, connection in self.connections:
            self.end(connection)
            thread.join()

    # The protocol.

    def accept(self):
        self.connections = []
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self.serve, args=[connection])
            self.connections.append((thread, connection))
            thread.start()

    def serve(self, connection):
        with contextlib.suppress(OSError, EOFError), connection.makefile("rb") as stream:
            while True:
                kind, body = read(stream)
                if not self.answer(connection, kind, body):
                    break
        with self.has_changed:
            if self.client is connection:
                self.client = None
        self.end(connection)

    def answer(self, connection, kind, body):
        if self.is_silent:
            return True
        if kind == CONNECT:
            return self.let_in(connection, body)
        if kind == SUBSCRIBE:
            self.subscribe(connection, body)
        elif kind == PUBACK:
            with self.has_changed:
                self.acknowledged.append(struct.unpack(">H", body[:2])[0])
                self.has_changed.notify_all()
        elif kind == PINGREQ:
            self.write(connection, PINGRESP << 4, b"")
        return kind != DISCONNECT

    def let_in(self, connection, body):
        version = body[6]
        rest = body[10:]
        if version == V5:
            rest = rest[1 + rest[0] :]
        client = rest[2 : 2 + struct.unpack(">H", rest[:2])[0]].decode()
        is_known = client in self.sessions
        is_spoken = version in self.versions
        self.spoken[connection] = version
        with self.has_changed:
            self.connects.append(Connect(version, client, time.monotonic()))
        if is_spoken:
            self.sessions.add(client)
            self.write(connection, CONNACK << 4, bytes([is_known, 0]) + (b"\0" if version == V5 else b""))
        elif self.says_no:
            # By MQTT 3.1.1 (3.2.2.3): the protocol level is not supported.
            self.write(connection, CONNACK << 4, bytes([0, 1]))
        with self.has_changed:
            if is_spoken and is_known:
                self.client = connection
            self.has_changed.notify_all()
        return is_spoken or not self.hangs_up

    def subscribe(self, connection, body):
        properties = b"\0" if self.spoken[connection] == V5 else b""
        filters, rest = [], body[2 + len(properties) :]
        while rest:
            count = struct.unpack(">H", rest[:2])[0]
            filters.append(rest[2 : 2 + count].decode())
            rest = rest[3 + count :]
        codes = bytes(0x87 if one in self.refused_topics else self.grants for one in filters)
        self.write(connection, SUBACK << 4, body[:2] + properties + codes)
        with self.has_changed:
            self.subscriptions += filters
            self.client = connection
            self.has_changed.notify_all()

    def forget(self):
        with self.has_changed:
            client, self.client = self.client, None
        return client

    def write(self, connection, head, body):
        connection.sendall(bytes([head]) + length(len(body)) + body)

    def end(self, connection):
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()


def text(string):
    return struct.pack(">H", len(string)) + string.encode()


def length(count):
    """A variable byte integer: seven bits a byte, the lowest first (MQTT 3.1.1, 2.2.3)."""
    digits = []
    while True:
        count, digit = divmod(count, 128)
        digits.append(digit | (128 if count else 0))
        if not count:
            return bytes(digits)


def read(stream):
    """The type and the body of the next packet."""
    head = exactly(stream, 1)[0]
    count = shift = 0
    while True:
        byte = exactly(stream, 1)[0]
        count |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return head >> 4, exactly(stream, count)


def exactly(stream, count):
    bytes = stream.read(count)
    if len(bytes) < count:
        raise EOFError
    return bytes
