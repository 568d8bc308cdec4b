"""The example config/apps.d/org.example.song.toml with another server and folder: a push through a real broker starts a
download, and the end of the session wakes the app."""

import os
import pathlib
import subprocess

import pytest

from bridge import REFRESH_PUSH, push
from servers.misbehaving import Misbehaving
from waiting import Bound

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
SONG = "org.example.song"
SIZE = 300_000


@pytest.fixture
def files():
    server = Misbehaving()
    yield server
    server.close()


@pytest.fixture
def song(daemon, bridge, broker, files):
    """The running daemon and bridge, and the folder of the app."""
    folder = daemon.directory / "Music"
    folder.mkdir()
    text = (REPOSITORY / f"config/apps.d/{SONG}.toml").read_text()
    for shown, here in [
        ('"https://example.org/songs/$REFRESH_CONTENT_ID.flac"', f'"{files.url("plain", SIZE)}?hold=$REFRESH_CONTENT_ID"'),
        # The URL gives the name of the file, and a local server needs no network.
        ("--to ~/Music/ ", f'--to "{folder}/$REFRESH_CONTENT_ID.flac" --network none '),
    ]:
        assert text.count(shown) == 1, shown
        text = text.replace(shown, here)
    daemon.file(SONG).write_text(text)
    programs = {"PATH": f"{REFRESH_PUSH.parent}:{os.environ['PATH']}"}
    daemon.start(environment=programs)
    bridge.configure(mqtt=broker.source())
    bridge.start()
    broker.wait_for_bridge()
    bridge.wait_until_connected("broker")
    return folder


def wait_for_refreshes(daemon, count):
    """The first refreshes of the app, oldest first."""
    bound = Bound(30)
    while len(refreshes := daemon.history(SONG)) < count:
        assert bound.left, refreshes
        daemon.settle(SONG)
    return refreshes[::-1]


def test_a_push_starts_a_download_and_the_app_is_woken_again_when_it_is_there(daemon, broker, files, song):
    broker.publish(f"test/{SONG}", push(42))
    files.wait_until_held("plain")
    # The refresh ends while the download continues.
    [refresh] = wait_for_refreshes(daemon, 1)
    assert (refresh["trigger"], refresh["content_id"], refresh["outcome"]) == ("push", "42", "new_data")
    assert not (song / "42.flac").exists()
    files.let_go()
    _, woken = wait_for_refreshes(daemon, 2)
    assert (woken["trigger"], woken["outcome"]) == ("transfer", "new_data")
    assert woken["tasks"][0]["message"] == "song 42 is in ~/Music"
    assert (song / "42.flac").stat().st_size == SIZE
    daemon.refresh(SONG)
    assert [refresh["trigger"] for refresh in daemon.history(SONG)] == ["manual", "transfer", "push"]


def test_what_is_no_number_is_not_put_into_a_url(daemon, broker, files, song):
    broker.publish(f"test/{SONG}", push("../../x"))
    [refresh] = wait_for_refreshes(daemon, 1)
    assert (refresh["content_id"], refresh["outcome"]) == ("../../x", "failed")
    assert files.requests == [] and daemon.call("Transfers.List", app=SONG)["transfers"] == []


def test_the_same_by_the_command(daemon, files, song):
    """The commands that the example's comments suggest."""
    command = [REFRESH_PUSH.with_name("refreshctl"), "push", SONG, push(7), "--socket", daemon.socket]
    subprocess.run(command, check=True, timeout=30, capture_output=True)
    files.let_go()
    _, woken = wait_for_refreshes(daemon, 2)
    assert woken["tasks"][0]["message"] == "song 7 is in ~/Music"
