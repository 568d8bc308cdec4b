"""How often `refreshctl top` asks the daemon, against the small fake daemon."""

import json
import pathlib
import sys
import time

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))
from terminal import Terminal  # noqa: E402
from test_refreshctl import APP, MANAGER, MESSAGES, PATIENCE, REFRESHCTL, Daemon  # noqa: E402

WATCHING = {"parameters": {"event": {"kind": "watching", "at_us": 1764000300000000}}, "continues": True}
HELD = {"kind": "held", "at_us": 1764000300000000, "app": APP, "holds": [{"name": "quiet", "remedy": "wait"}]}
EVENT = json.dumps({"parameters": {"event": HELD}, "continues": True}).encode() + b"\0"
LIST = MANAGER + "List"


@pytest.fixture
def daemon(tmp_path):
    daemon = Daemon(tmp_path / "socket")
    daemon.answers[MANAGER + "Watch"] = [WATCHING]
    yield daemon
    daemon.stop()


@pytest.fixture
def terminal(daemon):
    terminal = Terminal([REFRESHCTL, "top"], {"REFRESH_SOCKET": str(daemon.path)})
    terminal.wait_for(APP)
    yield terminal
    terminal.close()


def wait_for_list(daemon):
    """Waits until the list is asked for, and returns when that was and how many other calls came before."""
    others = 0
    while daemon.calls.get(timeout=PATIENCE)["method"] != LIST:
        others += 1
    return time.monotonic(), others


def test_many_events_are_one_question_and_no_two_come_at_once(daemon, terminal):
    wait_for_list(daemon)
    # The first call on the first connection is Watch.
    watch = daemon.connections[0]
    before = time.monotonic()
    watch.sendall(EVENT * 100)
    first, _ = wait_for_list(daemon)
    # Without an event the list is asked for every 5 s.
    assert first - before < 3
    watch.sendall(EVENT * 100)
    second, others = wait_for_list(daemon)
    # The daemon may be late to take a call, so a little less than 250 ms may be between two, and the other half of the
    # first question, the status, may come after its list.
    assert second - first > 0.2 and others <= 1 and second - before < 3
