"""Brokers that send what they must not: each costs its own connection and nothing else.

An ntfy server is a second source. It stays connected, on its first connection, whatever the broker does.
"""

import os

import pytest

from bridge import push
from daemon import TODO
from processes import status
from servers.mqtt import CONNACK, PUBLISH, SUBACK, V311, V5, SmallBroker, length, text
from servers.tls_front import TLSFront

TOPIC = f"test/{TODO}"
NTFY_TOPIC = "upTodo0123456"


@pytest.fixture
def small(request):
    broker = SmallBroker(**getattr(request, "param", {}))
    yield broker
    broker.close()


@pytest.fixture
def running(daemon, app, bridge, small, ntfy):
    """The daemon, and a bridge with the small broker and the ntfy server as sources."""
    daemon.start()
    bridge.configure(mqtt=small.source(), ntfy=ntfy_source(ntfy))
    bridge.start()
    bridge.wait_until_connected("broker")
    bridge.wait_until_connected("home")
    bridge.began = bridge.pid
    return bridge


def ntfy_source(ntfy):
    return {
        "name": "home", "url": ntfy.url, "topics": {TODO: NTFY_TOPIC}, "ca_file": str(ntfy.certificates.authority),
    }  # fmt: skip


def only_the_broker_is_lost(bridge, ntfy, app, small):
    """Asserts that the process lives, that the other source was not touched, and that the broker may come back."""
    ntfy.publish(NTFY_TOPIC, push("ntfy"))
    assert app.ids() == ["ntfy"]
    assert len(ntfy.asked) == 1
    small.wait_for_connects(2)
    small.send(TOPIC, push("broker-again"), 9)
    assert app.ids() == ["broker-again"]
    assert bridge.pid == bridge.began and bridge.process.poll() is None


def packet(head, body, size=None):
    return bytes([head]) + length(len(body) if size is None else size) + body


# A PUBLISH of quality of service 0 with the property 99, which MQTT 5 does not have: eleven bytes.
UNKNOWN_PROPERTY = packet(PUBLISH << 4, text("test") + bytes([2, 99, 0]))
WRONG = {
    "unknown property": UNKNOWN_PROPERTY,
    "topic alias": packet(PUBLISH << 4, text("t") + bytes([3, 0x23, 0, 1]) + b"{}"),
    "properties beyond the end": packet(PUBLISH << 4, text("t") + bytes([100, 1])),
    "properties without an end": packet(PUBLISH << 4, text("t") + b"\xff\xff\xff\xff\xff\xff"),
    "topic beyond the end": packet(PUBLISH << 4, b"\xff\xfft"),
    "topic that is no text": packet(PUBLISH << 4, b"\0\2\xff\xfe\0"),
    "no topic": packet(PUBLISH << 4, b"\0\0\0{}"),
    "quality of service 2": packet(PUBLISH << 4 | 4, text("t") + b"\0\1\0"),
    "quality of service 3": packet(PUBLISH << 4 | 6, text("t") + b"\0\1\0"),
    "number 0": packet(PUBLISH << 4 | 2, text("t") + b"\0\0\0"),
    "endless length": b"\x30\xff\xff\xff\xff\xff",
    "large answer": packet(SUBACK << 4, b"", size=200 << 20),
    "empty answer": packet(CONNACK << 4, b""),
    "second answer": packet(CONNACK << 4, b"\0\0\0"),
    "type 0": packet(0, b""),
    "CONNECT": packet(0x10, b"\0\4MQTT\5\0\0\0\0\0\0"),
    "AUTH": packet(0xF0, b""),
    "HTTP": b"HTTP/1.1 400 Bad Request\r\n\r\n",
}


@pytest.mark.parametrize("bytes", WRONG.values(), ids=WRONG.keys())
def test_what_mqtt_does_not_allow_ends_that_connection_and_no_other(running, small, ntfy, app, bytes):
    small.send_bytes(bytes)
    running.wait_for_output("Broker broker is not connected: cannot stay connected to 127.0.0.1")
    only_the_broker_is_lost(running, ntfy, app, small)


def test_an_unknown_property_is_named(running, small):
    small.send_bytes(UNKNOWN_PROPERTY)
    running.wait_for_output("a packet has the property 99, which MQTT 5 does not have")


def test_a_large_packet_that_is_no_message_is_named(running, small):
    small.send_bytes(WRONG["large answer"])
    running.wait_for_output("more than max_packet (8192)")


@pytest.mark.parametrize("small", [{"versions": [V311]}, {"versions": [V5]}], indirect=True, ids=["3.1.1", "5"])
@pytest.mark.parametrize("quality", [0, 1])
def test_a_message_with_a_topic_above_the_bound_is_lost_alone(running, small, app, quality):
    body = text("test/" + "t" * 65_000) + b"\0\7" * quality + b"\0{}"
    small.send_bytes(packet(PUBLISH << 4 | quality << 1, body))
    if quality:
        small.wait_for_acknowledgement()
        assert small.acknowledged == [7]
    small.send(TOPIC, push("next"), 2)
    assert app.ids() == ["next"]
    running.wait_for_count("broker", received=2, refused=1)
    assert len(small.connects) == (1 if V5 in small.versions else 2), "the connection is not lost"


@pytest.mark.bound(120)
@pytest.mark.parametrize("small", [{"versions": [V311]}, {"versions": [V5]}], indirect=True, ids=["3.1.1", "5"])
def test_the_largest_message_of_mqtt_costs_no_memory_and_is_not_sent_again(running, small, ntfy, app):
    """256 MB, which no broker may send to a client of MQTT 5 that announced less."""
    before = status(running.pid, "VmRSS")
    size = (256 << 20) - 1
    start = text(TOPIC) + b"\0\1" + (b"" if small.versions == [V311] else b"\0")
    block = bytes(1 << 20)
    rest = size - len(start)
    small.send_bytes(packet(PUBLISH << 4 | 2, start, size=size), *[block] * (rest >> 20), bytes(rest % (1 << 20)))
    small.wait_for_acknowledgement()
    small.send(TOPIC, push("next"), 2)
    assert app.ids() == ["next"]
    assert [connect.version for connect in small.connects][-1:] == small.versions
    running.wait_for_count("broker", received=2, refused=1)
    # In kB.
    assert status(running.pid, "VmHWM") - before < 8192
    ntfy.publish(NTFY_TOPIC, push("ntfy"))
    assert app.ids() == ["ntfy"]
    assert len(ntfy.asked) == 1


@pytest.mark.bound(120)
def test_a_large_packet_by_tls_costs_no_memory(daemon, app, bridge, small, certificates):
    front = TLSFront(certificates, small.port)
    try:
        daemon.start()
        bridge.configure(mqtt=small.source(port=front.port, tls=True, ca_file=str(certificates.authority)))
        bridge.start()
        bridge.wait_until_connected("broker")
        before = status(bridge.pid, "VmRSS")
        start = text(TOPIC) + b"\0\1\0"
        small.send_bytes(packet(PUBLISH << 4 | 2, start, size=len(start) + (64 << 20)), *[bytes(1 << 20)] * 64)
        small.wait_for_acknowledgement()
        small.send(TOPIC, push("next"), 2)
        assert app.ids() == ["next"]
        # In kB.
        assert status(bridge.pid, "VmHWM") - before < 8192
        small.send_bytes(UNKNOWN_PROPERTY)
        bridge.wait_for_output("a packet has the property 99")
        small.wait_for_connects(2)
    finally:
        front.close()


@pytest.mark.parametrize("kind", ["credential_file", "ca_file", "key_file"])
def test_a_file_that_is_a_pipe_is_a_problem_of_its_source(daemon, app, bridge, broker, ntfy, scratch, kind):
    """The open of a pipe waits for a writer that never comes."""
    pipe = scratch / "pipe"
    os.mkfifo(pipe, 0o600)
    certificate = {"certificate_file": str(broker.certificates.certificate)} if kind == "key_file" else {}
    daemon.start()
    bridge.configure(mqtt=broker.source(**certificate, **{kind: str(pipe)}), ntfy=ntfy_source(ntfy))
    bridge.start()
    assert "not a plain file" in bridge.wait_until_lost("broker")["problem"]
    bridge.wait_until_connected("home")


def test_authorities_in_a_pipe_are_a_problem_of_their_stream(daemon, app, bridge, small, ntfy, scratch):
    pipe = scratch / "pipe"
    os.mkfifo(pipe, 0o600)
    daemon.start()
    bridge.configure(mqtt=small.source(), ntfy={**ntfy_source(ntfy), "ca_file": str(pipe)})
    bridge.start()
    assert "not a plain file" in bridge.wait_until_lost("home")["problem"]
    bridge.wait_until_connected("broker")
