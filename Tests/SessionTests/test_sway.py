"""Apps that signal nothing, under sway: their phases follow the windows."""

import contextlib
import os
import pathlib
import signal
import socket
import threading

import pytest

from daemon import HURRY
from desktop import BINARIES, Desktop, Sway
from waiting import BOUND, Bound

MAIL, TODO = "org.example.mail", "org.example.todo"


class Phases:
    """The phases of apps, as `refreshctl watch` tells them."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.events = iter(daemon.client.stream("Manager.Watch"))
        next(self.events)

    def expect(self, app, phase):
        for reply in self.events:
            event = reply["event"]
            if event["kind"] == "phase_changed":
                assert (event["app"], event["phase"]) == (app, phase)
                return


@pytest.fixture
def phases(house):
    return Phases(house)


def desktops(house, of):
    """The session of `status`, once a part of it is as wanted."""
    bound = Bound()
    while not ((found := house.status().get("desktops")) and of(found[0])):
        assert bound.left, found
    return found[0]


def test_two_windows_of_one_app_count_as_one(house, sway, session, phases):
    session.begin(sway)
    first = sway.window("mail")
    phases.expect(MAIL, "foreground")
    sway.window("mail")
    sway.end(first)
    sway.window("todo")
    phases.expect(MAIL, "background")
    phases.expect(TODO, "foreground")
    assert desktops(house, lambda desk: True)["running"] == [MAIL, TODO]


def test_ten_windows_passed_in_a_moment_are_not_looked_at(house, sway, session, phases):
    session.begin(sway)
    for name in ("todo", "mail"):
        sway.window(name)
        for _ in range(4):
            sway.window("other")
    sway.focus("todo")
    phases.expect(TODO, "foreground")
    for _ in range(3):
        sway.focus("mail")
        sway.focus("todo")
    sway.do("workspace empty")
    phases.expect(TODO, "background")


def test_windows_that_vanish_in_a_burst_leave_nothing_in_front(house, sway, session, phases):
    session.begin(sway)
    for name in ["mail", "other", "other", "todo", "other", "other", "mail"]:
        sway.window(name)
    sway.focus("todo")
    phases.expect(TODO, "foreground")
    sway.do('[app_id=".*"] kill')
    phases.expect(TODO, "background")
    desk = desktops(house, lambda desk: desk["running"] == [])
    assert (desk["windows"], desk["front"]) == ("wlr", [])


def test_a_window_with_the_name_of_its_program_is_of_the_app_that_has_it(house, sway, session, phases):
    """Geary, whose id is org.gnome.Geary, has such windows."""
    folder = session.runtime / "data/applications"
    folder.mkdir(parents=True)
    (folder / "mail.desktop").write_text("[Desktop Entry]\nType=Application\nName=Mail\nExec=/usr/bin/letters %U\n")
    session.begin(sway)
    sway.window("letters")
    phases.expect(MAIL, "foreground")
    assert session.list(sway).stdout.splitlines() == ["ID    SEEN AS", "mail  window in front"]


def test_a_window_is_seen_longer_than_the_program_that_opened_it(house, sway, session, phases):
    """As with an app whose launcher forks and ends."""
    session.begin(sway)
    launcher = sway.launch("sh", "-c", "foot -a mail sh -c 'while :; do sleep 1000; done' & exit 0")
    assert launcher.wait(BOUND) == 0
    phases.expect(MAIL, "foreground")
    sway.do('[app_id="mail"] kill')
    phases.expect(MAIL, "background")
    desktops(house, lambda desk: desk["running"] == [])


def test_usage_names_the_openings_that_the_desktop_showed(house, sway, session, phases):
    """An app that was in front for an hour was opened once; an app that was only passed was not."""
    session.begin(sway)
    sway.window("todo")
    phases.expect(TODO, "foreground")
    sway.window("mail")
    phases.expect(TODO, "background")
    phases.expect(MAIL, "foreground")
    bound = Bound()
    while not (usage := house.call("Manager.Usage", app=MAIL))["openings_observed"]:
        assert bound.left, usage
    assert (usage["openings_observed"], usage["openings_told"]) == (1, 0)
    passed_by = house.call("Manager.Usage", app=TODO)
    assert (passed_by["openings_observed"], passed_by["openings_told"]) == (0, 0)


def test_a_compositor_that_crashes_leaves_nothing_in_front_and_is_found_again(house, sway, session, phases):
    session.begin(sway)
    sway.window("mail")
    phases.expect(MAIL, "foreground")
    sway.crash()
    phases.expect(MAIL, "background")
    sway.start()
    sway.window("mail")
    phases.expect(MAIL, "foreground")


def test_compositors_that_come_and_go_leave_no_connection(house, sway, session):
    session.begin(sway)
    descriptors = pathlib.Path(f"/proc/{session.pid}/fd")
    desktops(house, lambda desk: desk["windows"] == "wlr")
    before = len(list(descriptors.iterdir()))
    for _ in range(4):
        sway.crash()
        desktops(house, lambda desk: desk["windows"] == "none")
        # The pause before a new try ends, and the socket changes, in one moment.
        os.kill(session.pid, signal.SIGSTOP)
        sway.start()
        os.kill(session.pid, signal.SIGCONT)
        desktops(house, lambda desk: desk["windows"] == "wlr")
    # Of the last start one may still be on its way.
    assert len(list(descriptors.iterdir())) <= before + 1


def test_a_session_that_is_killed_leaves_nothing_in_front(house, sway, session, phases):
    session.begin(sway)
    sway.window("mail")
    phases.expect(MAIL, "foreground")
    session.kill()
    phases.expect(MAIL, "background")
    assert "desktops" not in house.status()


def test_the_state_is_told_again_when_the_daemon_is_back(house, sway, session):
    session.begin(sway)
    sway.window("mail")
    desktops(house, lambda desk: desk["front"] == [MAIL])
    house.kill()
    house.start()
    desktops(house, lambda desk: desk["front"] == [MAIL])
    assert house.show(MAIL)["phase"] == "foreground"


def test_an_app_of_a_reload_is_followed_at_once(house, sway, session):
    session.begin(sway)
    sway.window("notes")
    house.app("exit 100", id="org.example.notes", owner="nobody", directory="/", desktop=["Notes"])
    house.call("Manager.Reload")
    desktops(house, lambda desk: desk["front"] == ["org.example.notes"])


def test_a_session_without_a_daemon_waits_for_it(house, sway, session):
    house.stop()
    session.begin(sway)
    sway.window("mail")
    house.start()
    desktops(house, lambda desk: desk["front"] == [MAIL])


def test_without_a_daemon_it_rests(house, sway, session):
    """It waits for the socket by an event, not by trying again and again."""
    house.stop()
    # A wait for a bus watches the folders above its socket, and other tests change files in the usual ones.
    nowhere = "unix:path=/no-bus"
    session.begin(sway, DBUS_SESSION_BUS_ADDRESS=nowhere, DBUS_SYSTEM_BUS_ADDRESS=nowhere)
    sway.window("mail")
    # Its own start, and the dwell of the window, end first.
    session.rest(0.5)
    session.rest(3, within=3.5)
    house.start()
    desktops(house, lambda desk: desk["front"] == [MAIL])


def test_the_list_has_what_is_open_and_what_would_help(house, sway, session):
    sway.window("mail")
    sway.window("todo")
    listed = session.list(sway)
    assert listed.stdout.splitlines() == ["ID    SEEN AS", "mail  window", "todo  window in front"], listed.stderr
    asked = session.list(sway, program=[BINARIES / "refreshctl", "apps", "--desktop"])
    assert (asked.returncode, asked.stdout) == (0, listed.stdout), asked.stderr
    blind = session.list()
    assert blind.stdout == "Nothing with an id is open.\n"
    assert "cannot see windows: no display was found" in blind.stderr


def test_sigterm_ends_it_while_the_daemon_does_not_answer(house, sway, session):
    session.begin(sway)
    desktops(house, lambda desk: desk["windows"] == "wlr")
    os.kill(house.pid, signal.SIGSTOP)
    sway.window("mail")
    assert session.stop() == 0
    os.kill(house.pid, signal.SIGCONT)


def test_a_second_session_of_the_user_is_joined(house, sway, session, phases, scratch):
    session.begin(sway)
    sway.window("mail")
    phases.expect(MAIL, "foreground")
    nested = scratch / "nested"
    nested.mkdir(mode=0o700)
    os.chown(nested, os.stat(session.runtime).st_uid, -1)
    with Sway(nested) as other:
        second = type(session)(nested, house.socket)
        second.begin(other)
        other.window("mail")
        bound = Bound()
        while sum(desk["front"] == [MAIL] for desk in house.status()["desktops"]) < 2:
            assert bound.left
        sway.do("workspace empty")
        desktops(house, lambda desk: desk["front"] == [])
        assert house.show(MAIL)["phase"] == "foreground"
        second.close()
    phases.expect(MAIL, "background")


class Nonsense(Desktop):
    """A compositor that answers every client with bytes that are no protocol, and hangs up."""

    def open(self):
        self.path = self.runtime / "nonsense"
        self.variables = {"WAYLAND_DISPLAY": str(self.path)}
        self.server = socket.socket(socket.AF_UNIX)
        self.server.bind(str(self.path))
        os.chmod(self.path, 0o777)
        self.server.listen()
        self.clients = 0
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            self.clients += 1
            with client, contextlib.suppress(OSError):
                client.sendall(os.urandom(1 << 16))

    def __exit__(self, *_):
        self.server.close()


def test_a_compositor_that_sends_nonsense_is_left_alone(house, runtime, session):
    with Nonsense(runtime) as nonsense:
        session.begin(nonsense)
        desk = desktops(house, lambda desk: desk["windows"] == "none" and desk.get("remedy"))
        assert "nobody answers on" in desk["remedy"]
        assert "WAYLAND_DISPLAY DISPLAY XAUTHORITY && systemctl --user restart refresh-session" in desk["remedy"]
        bound = Bound()
        # It is tried a few times, for windows and for idleness, and not again before its socket changes.
        while nonsense.clients < 18:
            assert bound.left, nonsense.clients
        assert session.stop() == 0
        assert nonsense.clients == 18


def test_a_user_who_wants_signals_only_is_not_looked_at(house, sway, session):
    house.configure(HURRY + '[defaults]\nlifecycle = "signals"\n')
    house.call("Manager.Reload")
    session.begin(sway)
    sway.window("mail")
    assert desktops(house, lambda desk: desk["windows"] == "wlr")["apps"] == 0
