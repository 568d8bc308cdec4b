"""A server of messages does its worst to the bridge; another user's messages arrive, and calls and refreshes go on."""

import time

import pytest

from bridge import UNLIMITED, Bridge
from daemon import HURRY
from processes import status
from stand import BAD, MEGABYTES, SLACK, START, VICTIM, p99

PUSHED = "org.example.pushed"
EVENT_STREAM = ["endless_header", "endless_line", "endless_event"]
NTFY = ["endless_line", "endless_redirect", "hang_up"]
MQTT = ["endless_packet", "packets_of_nobody", "ends_once_subscribed"]
"""The faults of bad_server.py, for each kind of source."""


@pytest.fixture
def bridge(stand):
    bridge = Bridge(stand.daemon)
    stand.daemon.configure(HURRY + '[push]\nnetwork = "none"\n')
    yield bridge
    bridge.close()


def source(kind, port):
    url = f"http://127.0.0.1:{port}/0"
    return {
        "sse": {"name": "bad", "url": url, "app": BAD},
        "ntfy": {"name": "bad", "url": url, "topics": {BAD: "bad"}},
        "mqtt": {"name": "bad", "host": "127.0.0.1", "port": port, "tls": False, "topic": "bad/{app}"},
    }[kind]


@pytest.mark.parametrize(
    "kind, fault", [("sse", fault) for fault in EVENT_STREAM] + [("ntfy", fault) for fault in NTFY]
    + [("mqtt", fault) for fault in MQTT],
)  # fmt: skip
def test_a_server_of_messages_costs_only_its_source(stand, bridge, kind, fault):
    arrived = stand.daemon.directory / "arrived"
    arrived.mkdir()
    arrived.chmod(0o777)
    stand.daemon.app(
        f"date +%s%N > {arrived}/$REFRESH_CONTENT_ID", id=PUSHED, owner=str(VICTIM), directory="/", **UNLIMITED
    )
    with stand.server(fault) as bad, stand.server("good") as good:
        stand.start()
        sources = {"sse": [{"name": "good", "url": f"http://127.0.0.1:{good.port}/0", "app": PUSHED}]}
        sources.setdefault(kind, []).append(source(kind, bad.port))
        bridge.configure(**sources)
        bridge.start()
        bad.wait_until_met()
        bridge.wait_until_connected("good")
        began = time.time()
        measured = stand.measure()
        most = status(bridge.pid, "VmHWM") >> 10
        late = sorted(
            (int(file.read_text() or time.time_ns()) - int(file.name)) / 1e9
            for file in arrived.iterdir() if int(file.name) / 1e9 > began
        )  # fmt: skip
        print(f"{len(late)} messages: p99 {p99(late) * 1e3:.0f} ms late; the bridge {most} MB")
        measured.within_bounds()
        assert len(late) >= 3 and p99(late) <= START * SLACK, "the neighbour's messages do not arrive in time"
        assert most <= MEGABYTES, f"the bridge had {most} MB"
        assert bridge.process.poll() is None
    stand.holds_afterwards()
