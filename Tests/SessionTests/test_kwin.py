"""Apps that signal nothing, under KWin: their phases follow the windows that a script in KWin reports."""

import os
import pathlib
import signal
import subprocess
import sys

from desktop import BINARIES, USER
from test_sway import MAIL, TODO, desktops, phases  # noqa: F401
from waiting import BOUND, Bound

SCRIPT = "refresh-session"


def bus_of(kwin):
    """The variables of a session that sees KWin on the bus only, and so waits for no answer of its display."""
    return {name: text for name, text in kwin.variables.items() if name != "WAYLAND_DISPLAY"}


def test_ten_windows_passed_in_a_moment_are_not_looked_at(house, kwin, session, phases):  # noqa: F811
    session.begin(kwin)
    kwin.window("mail")
    phases.expect(MAIL, "foreground")
    kwin.window("todo")
    phases.expect(MAIL, "background")
    phases.expect(TODO, "foreground")
    kwin.do("""
        const find = name => workspace.clientList().find(client => String(client.resourceClass) === name);
        for (let turn = 0; turn < 10; turn++) workspace.activeClient = find(turn % 2 ? "todo" : "mail");
    """)
    kwin.leave()
    phases.expect(TODO, "background")


def test_kwin_that_crashes_leaves_nothing_in_front_and_is_found_again(house, kwin, session, phases):  # noqa: F811
    session.begin(kwin)
    kwin.window("mail")
    phases.expect(MAIL, "foreground")
    kwin.crash()
    phases.expect(MAIL, "background")
    kwin.start()
    kwin.window("mail")
    phases.expect(MAIL, "foreground")


def test_the_script_is_unloaded_at_the_end_and_replaced_after_a_kill(house, kwin, session, phases):  # noqa: F811
    session.begin(kwin)
    desktops(house, lambda desk: desk["windows"] == "kwin")
    assert kwin.has_script(SCRIPT)
    # KWin reads the file once.
    assert not list(kwin.runtime.glob("*session*.js"))
    os.kill(session.pid, signal.SIGKILL)
    session.wait()
    assert kwin.has_script(SCRIPT)
    session.begin(kwin)
    kwin.window("mail")
    phases.expect(MAIL, "foreground")
    assert session.stop() == 0
    bound = Bound()
    while kwin.has_script(SCRIPT):
        assert bound.left


def test_nobody_but_kwin_tells_of_windows(house, kwin, session):
    session.begin(kwin)
    desktops(house, lambda desk: desk["windows"] == "kwin")
    names = kwin.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames")["data"][0]
    told = [
        kwin.call(name, "/org/refreshd/Windows", "org.refreshd.Windows", "Show", "s", '[[2,0,"mail"]]')
        for name in names
        if name.startswith(":")
    ]
    assert told and not any(told)
    assert desktops(house, lambda desk: True)["running"] == []


def test_the_list_has_what_kwin_shows_and_leaves_no_script(house, kwin, session, phases):  # noqa: F811
    session.begin(kwin)
    kwin.window("mail")
    phases.expect(MAIL, "foreground")
    listed = session.list(kwin)
    assert "mail" in listed.stdout and "window in front" in listed.stdout, listed
    assert kwin.has_script(SCRIPT)
    assert not list(kwin.runtime.glob("*session*.js"))


def test_nobody_is_there_after_a_time_without_input(house, kwin, session, phases):  # noqa: F811
    session.begin(kwin, "--idle-after", "6")
    kwin.window("mail")
    phases.expect(MAIL, "foreground")
    phases.expect(MAIL, "background")
    desk = desktops(house, lambda desk: not desk["is_watched"])
    assert (desk["running"], desk["front"]) == ([MAIL], [])
    # A compositor that is gone says nothing of its user any more.
    kwin.crash()
    desktops(house, lambda desk: desk["is_watched"])


def test_somebody_is_there_again_with_the_first_movement_of_the_pointer(house, kwin, session):
    kwin.crash()
    kwin.is_open = True
    kwin.start()
    session.begin(kwin, "--idle-after", "3")
    kwin.window("mail")
    desktops(house, lambda desk: not desk["is_watched"])
    pointer = kwin.launch(sys.executable, pathlib.Path(__file__).with_name("pointer.py"))
    desk = desktops(house, lambda desk: desk["is_watched"])
    assert desk["running"] == [MAIL]
    desktops(house, lambda desk: desk["front"] == [MAIL])
    assert pointer.wait(BOUND) == 0


def test_a_kwin_that_runs_the_script_late_is_believed(house, kwin, session, phases):  # noqa: F811
    os.kill(kwin.compositor.pid, signal.SIGSTOP)
    session.begin(**bus_of(kwin))
    desktops(house, lambda desk: "does not run our script" in desk.get("remedy", ""))
    os.kill(kwin.compositor.pid, signal.SIGCONT)
    names = kwin.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames")["data"][0]
    told = '"/org/refreshd/Windows", "org.refreshd.Windows", "Show", \'[[2,0,"mail"]]\''
    kwin.do("\n".join(f'callDBus("{name}", {told});' for name in names if name.startswith(":")))
    phases.expect(MAIL, "foreground")
    desk = desktops(house, lambda desk: desk["windows"] == "kwin")
    assert desk.get("remedy") is None


def test_a_list_that_is_interrupted_leaves_nothing(kwin, session):
    os.kill(kwin.compositor.pid, signal.SIGSTOP)
    command = [BINARIES / "refresh-session", "--list"]
    with subprocess.Popen(command, env=session.environment(**bus_of(kwin)), **USER.identity) as listing:
        bound = Bound()
        while not list(kwin.runtime.glob("*session*.js")):
            assert bound.left
        listing.send_signal(signal.SIGTERM)
        assert listing.wait(10) == 128 + signal.SIGTERM
    assert not list(kwin.runtime.glob("*session*.js"))
    os.kill(kwin.compositor.pid, signal.SIGCONT)
