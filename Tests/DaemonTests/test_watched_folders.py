"""Changes in folders that an app's file has watched, by the kernel's own events."""

import os
import shutil
import subprocess

import pytest

from daemon import HURRY, MAIL, REFRESHD, TODO
from hung_mount import LIBC, MNT_DETACH, HungMount


@pytest.fixture
def notes(daemon):
    """A folder with a file in it."""
    folder = daemon.directory / "notes"
    folder.mkdir()
    (folder / "old").write_text("text")
    return folder


@pytest.fixture
def hung(daemon):
    """A file system that does not answer."""
    mount = HungMount(daemon.directory / "hung")
    yield mount
    mount.release()


class Refreshes:
    """The refreshes of an app with watched folders. Its first look at a folder that no refresh has seen is a change, so a
    daemon that starts has one refresh when the folders are watched."""

    def __init__(self, daemon, *folders, command="true", id=TODO, **keys):
        self.daemon, self.id = daemon, id
        self.triggers = daemon.pipe(f"triggers-{id}")
        keys = {"foreground_interval": "1ms", "watch_settle": "2s", **keys}
        daemon.app(
            f"{command}; echo $REFRESH_TRIGGER > {self.triggers}", id=id, watch=[str(folder) for folder in folders], **keys
        )

    def start(self):
        """Starts the daemon and waits until the folders are watched."""
        self.daemon.start()
        self.next()

    def next(self):
        """Waits for a refresh, and until it is in the history."""
        ended = len(self.daemon.history(self.id))
        assert self.triggers.line() == "change"
        events = self.daemon.client.stream("Manager.Watch", apps=[self.id])
        while len(self.daemon.history(self.id)) <= ended and self.daemon.show(self.id).get("running"):
            if next(events)["event"]["kind"] == "ended":
                break


def why(daemon, app=TODO):
    return daemon.call("Manager.Why", app=app)["why"]


def refreshctl(daemon, *arguments):
    """The text on one line."""
    command = [REFRESHD.with_name("refreshctl"), *arguments, "--socket", daemon.socket]
    return " ".join(subprocess.run(command, check=True, capture_output=True, text=True).stdout.split())


def next_event(events, kind):
    while event := next(events)["event"]:
        if event["kind"] == kind:
            return event


def test_a_change_starts_a_refresh_and_why_says_so(daemon, notes):
    refreshes = Refreshes(daemon, notes, watch_settle="2s")
    refreshes.start()
    explained = why(daemon)
    assert explained["watched"] == [{"app": TODO, "folder": str(notes), "folders": 1}]
    assert explained["watch_settle_us"] == 2_000_000 and "change" not in explained
    (notes / "old").write_text("more")
    refreshes.next()
    assert [refresh["trigger"] for refresh in daemon.history()] == ["change", "change"]


def test_what_waits_is_explained(daemon, notes):
    refreshes = Refreshes(daemon, notes, watch_settle="2s")
    refreshes.start()
    daemon.call("Manager.Pause")
    held = daemon.client.stream("Manager.Watch", apps=[TODO])
    (notes / "new").write_text("text")
    assert [hold["name"] for hold in next_event(held, "held")["holds"]] == ["paused"]
    explained = why(daemon)
    assert explained["trigger"] == "change" and explained["change"]["folder"] == str(notes)
    text = refreshctl(daemon, "why", TODO)
    assert "waits: all apps are paused" in text and f"in {notes}" in text
    daemon.call("Manager.Resume")
    refreshes.next()


def test_a_change_that_settles_is_explained_and_foretold(daemon, notes):
    refreshes = Refreshes(daemon, notes, watch_settle="2s")
    refreshes.start()
    refreshes.daemon.app("true", watch=[str(notes)], watch_settle="1h", foreground_interval="1ms")
    daemon.call("Manager.Reload")
    # The daemon reads the folder after a refresh that a person asks for, here of the user's other app.
    daemon.app("true", id=MAIL, watch=[str(daemon.directory / "none")])
    daemon.call("Manager.Reload")
    (notes / "new").write_text("text")
    daemon.refresh(MAIL)
    daemon.settle()
    text = refreshctl(daemon, "why", TODO)
    assert f"because of a change in {notes}" in text
    assert daemon.show()["due_trigger"] == "change"
    assert "because of a change in its watched folders" in refreshctl(daemon, "status", TODO)
    forecast = daemon.call("Manager.Forecast", app=TODO, hours=2)
    assert [start["trigger"] for wake in forecast["wakes"] for start in wake["starts"]] == ["change"]


def test_what_the_refresh_writes_starts_nothing(daemon, notes):
    """The daemon hears of the last writes when the refresh ends; a change right after that counts."""
    refreshes = Refreshes(daemon, notes, command=f"date > {notes}/last; mkdir -p {notes}/made/$$; date > {notes}/made/$$/x")
    refreshes.start()
    assert "change" not in why(daemon)
    (notes / "mine").write_text("text")
    refreshes.next()
    assert len(daemon.history()) == 2


def test_what_the_daemon_saves_starts_nothing(daemon, notes):
    """Its own state is in the watched folder."""
    # Its start is saved before its end, when the daemon hears of what was written.
    daemon.app("sleep 1.1", id=MAIL)
    refreshes = Refreshes(daemon, daemon.directory)
    refreshes.start()
    daemon.refresh(MAIL)
    daemon.settle()
    assert "change" not in why(daemon) and len(daemon.history()) == 1
    (notes / "new").write_text("text")
    refreshes.next()


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_change_while_no_daemon_was_there_is_caught_up(daemon, notes, how):
    refreshes = Refreshes(daemon, notes, command=f"date > {notes}/last")
    daemon.app("sleep 1.1", id=MAIL)
    refreshes.start()
    # The end of a refresh is known to the second only.
    daemon.refresh(MAIL)
    getattr(daemon, how)()
    (notes / "new").write_text("text")
    daemon.start()
    refreshes.next()
    assert len(daemon.history()) == 2


def test_a_restart_without_a_change_starts_nothing(daemon, notes):
    refreshes = Refreshes(daemon, notes, daemon.directory / "later", command=f"date > {notes}/last")
    refreshes.start()
    daemon.settle()
    daemon.stop()
    daemon.start()
    # The folders are watched in the order of the file.
    daemon.wait_for_output("it does not exist", times=2)
    assert "change" not in why(daemon) and len(daemon.history()) == 1
    assert why(daemon)["watched"][0]["folders"] == 1


def test_a_folder_that_is_not_there_is_named_and_watched_when_it_is_made(daemon, notes):
    refreshes = Refreshes(daemon, notes)
    shutil.rmtree(notes)
    daemon.start()
    daemon.wait_for_output(f"{TODO}: changes in {notes} may be missed: it does not exist")
    assert daemon.status()["unwatched"] == [
        {"app": TODO, "folder": str(notes), "folders": 0, "problem": "it does not exist"}
    ]
    text = refreshctl(daemon, "status")
    assert "is not watched: it does not exist" in text and "Changes in 1 watched folder may be missed." in text
    notes.mkdir()
    refreshes.next()
    assert "unwatched" not in daemon.status()


def test_a_burst_of_changes_is_one_refresh(daemon, notes):
    refreshes = Refreshes(daemon, notes)
    refreshes.start()
    for number in range(100_000):
        os.close(os.open(notes / f"{number % 1000}", os.O_CREAT | os.O_WRONLY | os.O_TRUNC))
        if number % 10 == 0:
            os.unlink(notes / f"{number % 1000}")
    refreshes.next()
    assert len(daemon.history()) <= 3


def test_a_file_system_that_does_not_answer_costs_only_its_folder(daemon, hung, notes):
    refreshes = Refreshes(daemon, notes)
    daemon.app("true", id=MAIL, watch=[str(hung.path / "mail")])
    daemon.start()
    daemon.wait_for_output(f"changes in {hung.path}/mail may be missed: it did not answer in time")
    refreshes.next()
    (notes / "new").write_text("text")
    refreshes.next()
    assert [folder["app"] for folder in daemon.status()["unwatched"]] == [MAIL]


def test_without_an_inotify_instance_folders_wait_for_one(daemon, notes):
    """A user namespace has a bound of its own for the instances, here none."""
    bound = "/proc/sys/user/max_inotify_instances"
    refreshes = Refreshes(daemon, notes)
    daemon.start(prefix=["unshare", "--map-root-user", "sh", "-ec", f'echo 0 > {bound}; exec "$@"', "sh"])
    daemon.wait_for_output(f"changes in {notes} may be missed: the daemon has as many inotify instances as")
    assert "fs.inotify.max_user_instances" in daemon.status()["unwatched"][0]["problem"]
    inside = ["nsenter", f"--target={daemon.pid}", "--user", "--preserve-credentials"]
    subprocess.run([*inside, "sh", "-ec", f"echo 9 > {bound}"], check=True)
    daemon.call("Manager.Reload")
    refreshes.next()
    assert "unwatched" not in daemon.status()


def test_a_file_system_that_is_mounted_there_is_watched(daemon, notes):
    daemon.app("sleep 1.1", id=MAIL)
    refreshes = Refreshes(daemon, notes)
    refreshes.start()
    # The end of a refresh is known to the second only.
    daemon.refresh(MAIL)
    assert LIBC.mount(b"notes", os.fsencode(notes), b"tmpfs", 0, b"") == 0
    try:
        refreshes.next()
        (notes / "new").write_text("text")
        refreshes.next()
    finally:
        assert LIBC.umount2(os.fsencode(notes), MNT_DETACH) == 0


def test_check_tells_of_folders_that_cannot_be_watched(daemon, notes):
    daemon.app("true", watch=[str(notes), str(notes / "none")])
    daemon.start()
    (problem,) = daemon.call("Manager.Check")["problems"]
    assert problem["is_warning"] and problem["message"] == f'cannot find the folder "{notes}/none"'
