"""Windows in the session of a lingering user: an X server and a window manager among the units of the user's manager."""

import contextlib
import json
import pathlib
import select
import subprocess

import pytest

from test_conditions_logind import MANAGER as LOGIND
from test_desktop import FILE, MAIL, desk, lingering  # noqa: F401
from waiting import BOUND, Bound

BACKUP = "org.example.backup"
# A window of a program in Python that has given it no name.
WINDOW = ("xterm", "-class", "python3", "-name", "python3", "-e", "sleep", "1000")
ENTRY = "[Desktop Entry]\nType=Application\nName=An app\nExec=true\n"
APPLICATIONS = pathlib.Path("/home/anna/.local/share/applications")


@pytest.fixture
def screen(desk):
    """An X server and a window manager in anna's session, and refresh-session on it."""
    pathlib.Path("/tmp/.X11-unix").mkdir(mode=0o1777, exist_ok=True)
    desk.launch("screen", "--collect", command=("Xvfb", ":77", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"))
    desk.launch("manager", "--collect", "--setenv=DISPLAY=:77", "--property=Restart=always", command=("openbox",))
    desk.run("systemctl", "--user", "set-environment", "DISPLAY=:77")
    desk.run("systemctl", "--user", "restart", "refresh-session.service")
    desk.expect(lambda session: session["windows"] == "x11")
    yield
    desk.run("systemctl", "--user", "unset-environment", "DISPLAY")
    desk.run("systemctl", "--user", "stop", "app-*.service", "manager.service", "screen.service", check=False)


def test_a_window_without_a_name_of_its_own_is_of_the_app_of_its_unit(desk, screen):
    desk.launch("nobody", "--collect", "--setenv=DISPLAY=:77", command=WINDOW)
    # The window that comes last is in front.
    bound = Bound()
    while "0x" not in desk.run("xprop", "-display", ":77", "-root", "_NET_CLIENT_LIST").stdout:
        assert bound.left, "no window came"
    desk.launch(r"app-mail\x2dapp@7.service", "--setenv=DISPLAY=:77", command=WINDOW)
    desk.expect(lambda session: session["front"] == [MAIL])
    desk.stop(r"app-mail\x2dapp@7.service")
    desk.expect(lambda session: session["running"] == [])
    desk.stop("nobody")


@pytest.fixture
def entries(desk):  # noqa: F811
    """Two installed apps; the desktop file of one claims the windows of all Python programs."""
    desk.run("mkdir", "--parents", APPLICATIONS)
    paths = [APPLICATIONS / "mail-app.desktop", APPLICATIONS / "backup.desktop"]
    for path, more in zip(paths, ("", "StartupWMClass=python3\n"), strict=True):
        path.write_text(ENTRY + more)
    desk.refreshd.configure(FILE, FILE.replace(MAIL, BACKUP).replace('"mail-app", "org.example.Bus"', '"backup"'))
    desk.refreshd.refreshctl("reload")
    desk.expect(lambda session: session["apps"] == 2)
    yield
    for path in paths:
        path.unlink()


@contextlib.contextmanager
def phases(app):
    """Returns the phases that `refreshctl watch` reports, one for each call."""
    # Unbuffered, because select(2) does not know what a buffer holds.
    with subprocess.Popen(["refreshctl", "watch", app, "--json"], stdout=subprocess.PIPE, bufsize=0) as watch:

        def event(kind):
            happened = {}
            while happened.get("kind") != kind:
                assert select.select([watch.stdout], [], [], BOUND)[0], f"nothing of the kind {kind} is told"
                happened = json.loads(watch.stdout.readline())
            return happened

        try:
            event("watching")
            yield lambda: event("phase_changed")["phase"]
        finally:
            watch.terminate()


def test_a_class_that_a_desktop_file_claims_by_mistake_counts_less_than_the_unit(desk, entries, screen):  # noqa: F811
    desk.launch(r"app-mail\x2dapp@8.service", "--setenv=DISPLAY=:77", command=WINDOW)
    assert desk.expect(lambda session: session["front"])["front"] == [MAIL]
    assert desk.expect(lambda session: True)["running"] == [MAIL]
    desk.stop(r"app-mail\x2dapp@8.service")
    desk.launch("nobody", "--collect", "--setenv=DISPLAY=:77", command=WINDOW)
    desk.expect(lambda session: (session["running"], session["front"]) == ([BACKUP], [BACKUP]))
    desk.stop("nobody")


def test_nothing_is_in_front_while_the_session_is_locked_or_idle(desk, screen, log_in):  # noqa: F811
    log_in("anna", type="x11")
    desk.launch(r"app-mail\x2dapp@9.service", "--setenv=DISPLAY=:77", command=WINDOW)
    for name in ("Locked", "Idle"):
        desk.expect(lambda session: session["front"] == [MAIL])
        desk.hint(name, True)
        session = desk.expect(lambda session: not session["is_watched"])
        assert (session["running"], session["front"]) == ([MAIL], [])
        desk.hint(name, False)
    desk.expect(lambda session: session["front"] == [MAIL])


def test_nothing_is_in_front_while_the_machine_sleeps(desk, screen, sleepless):  # noqa: F811
    desk.launch(r"app-mail\x2dapp@10.service", "--setenv=DISPLAY=:77", command=WINDOW)
    desk.expect(lambda session: session["front"] == [MAIL])
    with phases(MAIL) as phase:
        subprocess.run(["busctl", "call", *LOGIND, "Suspend", "b", "false"], check=True, timeout=60)
        assert [phase(), phase()] == ["background", "foreground"]
