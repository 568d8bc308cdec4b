"""refresh-session as a unit of a lingering user: units, bus names and logind, without windows."""

import datetime
import json
import pathlib
import select
import subprocess

import pytest

from waiting import BOUND, Bound

MAIL = "org.example.mail"
FILE = f"""
id = "{MAIL}"
owner = "anna"
background_interval = "never"
desktop = ["mail-app", "org.example.Bus"]
[[task]]
run = ["true"]
"""


class Desk:
    """The manager of anna, and what the daemon is told of her session."""

    def __init__(self, uid, refreshd):
        self.uid, self.refreshd = uid, refreshd

    def command(self, *words):
        """A command in the session of anna."""
        runtime = f"/run/user/{self.uid}"
        environment = [f"XDG_RUNTIME_DIR={runtime}", f"DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus"]
        return ["runuser", "-u", "anna", "--", "env", *environment, *words]

    def run(self, *words, check=True):
        return subprocess.run(self.command(*words), check=check, capture_output=True, text=True, timeout=60)

    def launch(self, unit, *options, command=("sleep", "1000"), check=True):
        self.run("systemd-run", "--user", "--quiet", f"--unit={unit}", *options, *command, check=check)

    def stop(self, unit):
        self.run("systemctl", "--user", "stop", unit)

    def expect(self, what):
        """Waits until the session of `status` is as wanted, and returns it."""
        bound = Bound()
        while True:
            found = json.loads(self.refreshd.refreshctl("status", "--json").stdout)["status"].get("desktops", [])
            if found and what(found[0]):
                return found[0]
            assert bound.left, found


@pytest.fixture(scope="module")
def lingering(installed):
    uid = subprocess.run(["id", "-u", "anna"], check=True, capture_output=True, text=True).stdout.strip()
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    subprocess.run(["systemctl", "start", f"user@{uid}.service"], check=True, timeout=60)
    yield uid
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
    subprocess.run(["systemctl", "stop", f"user@{uid}.service"], check=True, timeout=60)


@pytest.fixture
def desk(lingering, refreshd):
    refreshd.configure(FILE)
    refreshd.start()
    desk = Desk(lingering, refreshd)
    desk.run("systemctl", "--user", "start", "refresh-session.service")
    desk.expect(lambda session: session["apps"] == 1)
    yield desk
    desk.run("systemctl", "--user", "stop", "refresh-session.service", "app-*.scope", "app-*.service", check=False)


def test_the_units_of_an_app_are_counted(desk):
    scope = ("systemd-run", "--user", "--quiet", "--scope", "--slice=app.slice", "--collect")
    for number in (1, 2):
        # From a service of the manager, because it can move only processes of its own into a scope.
        name = rf"--unit=app-gnome-mail\x2dapp-{number}"
        desk.launch(f"launcher-{number}", command=(*scope, name, "sleep", "1000"))
    session = desk.expect(lambda session: session["running"] == [MAIL])
    assert (session["windows"], session["is_watched"]) == ("none", True)
    assert "import-environment" in session["remedy"]
    desk.stop(r"app-gnome-mail\x2dapp-1.scope")
    desk.launch(r"app-mail\x2dapp@3.service")
    desk.stop(r"app-gnome-mail\x2dapp-2.scope")
    assert desk.expect(lambda session: True)["running"] == [MAIL]
    desk.stop(r"app-mail\x2dapp@3.service")
    desk.expect(lambda session: session["running"] == [])


def test_a_unit_that_failed_does_not_run(desk):
    desk.launch(r"app-mail\x2dapp@4.service", command=("sh", "-c", "sleep 0.1; exit 3"))
    desk.run("systemctl", "--user", "is-failed", "--wait", r"app-mail\x2dapp@4.service", check=False)
    desk.launch("app-other@5.service")
    desk.expect(lambda session: session["running"] == [])
    desk.run("systemctl", "--user", "reset-failed", check=False)


def test_an_alias_of_a_unit_may_be_the_name_of_an_app(desk):
    folder = pathlib.Path("/home/anna/.config/systemd/user")
    desk.run("mkdir", "--parents", str(folder))
    (folder / "own-name.service").write_text("[Service]\nExecStart=sleep 1000\n")
    (folder / r"app-mail\x2dapp.service").symlink_to(folder / "own-name.service")
    desk.run("systemctl", "--user", "daemon-reload")
    for _ in range(2):
        desk.run("systemctl", "--user", "start", "own-name.service")
        desk.expect(lambda session: session["running"] == [MAIL])
        # It is known too when it ran before.
        desk.run("systemctl", "--user", "restart", "refresh-session.service")
        desk.expect(lambda session: session["running"] == [MAIL])
        desk.stop("own-name.service")
        desk.expect(lambda session: session["running"] == [])


@pytest.fixture
def screen(desk):
    """An X server and a window manager in anna's session, and refresh-session on it."""
    pathlib.Path("/tmp/.X11-unix").mkdir(mode=0o1777, exist_ok=True)
    desk.launch("screen", command=("Xvfb", ":77", "-screen", "0", "800x600x24", "-nolisten", "tcp", "-noreset"))
    desk.launch("manager", "--setenv=DISPLAY=:77", "--property=Restart=always", command=("openbox",))
    desk.run("systemctl", "--user", "set-environment", "DISPLAY=:77")
    desk.run("systemctl", "--user", "restart", "refresh-session.service")
    desk.expect(lambda session: session["windows"] == "x11")
    yield
    desk.run("systemctl", "--user", "unset-environment", "DISPLAY")
    desk.run("systemctl", "--user", "stop", "app-*.service", "manager.service", "screen.service", check=False)


def test_a_window_without_a_name_of_its_own_is_of_the_app_of_its_unit(desk, screen):
    window = ("xterm", "-class", "python3", "-name", "python3", "-e", "sleep", "1000")
    desk.launch("nobody", "--setenv=DISPLAY=:77", command=window)
    # The window that comes last is in front.
    bound = Bound()
    while "0x" not in desk.run("xprop", "-display", ":77", "-root", "_NET_CLIENT_LIST").stdout:
        assert bound.left, "no window came"
    desk.launch(r"app-mail\x2dapp@7.service", "--setenv=DISPLAY=:77", command=window)
    desk.expect(lambda session: session["front"] == [MAIL])
    desk.stop(r"app-mail\x2dapp@7.service")
    desk.expect(lambda session: session["running"] == [])
    desk.stop("nobody")


def test_a_name_on_the_bus_means_that_the_app_runs(desk):
    desk.launch("holder", command=("/usr/bin/python3", "-m", "dbusmock", "--session", "org.example.Bus", "/", "org.example.Bus"))
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.stop("holder.service")
    desk.expect(lambda session: session["running"] == [])


def test_a_session_that_is_locked_or_idle_has_nobody_there(desk, log_in):
    log_in("anna", type="wayland")
    desk.expect(lambda session: session["is_watched"])
    bus = ["busctl", "--json=short", "call", "org.freedesktop.login1"]
    user = ["/org/freedesktop/login1", "org.freedesktop.login1.Manager", "GetUser", "u", str(desk.uid)]
    path = json.loads(subprocess.run([*bus, *user], check=True, capture_output=True).stdout)["data"][0]
    shown = subprocess.run(
        ["busctl", "--json=short", "get-property", "org.freedesktop.login1", path, "org.freedesktop.login1.User", "Display"],
        check=True, capture_output=True)  # fmt: skip
    session = json.loads(shown.stdout)["data"][1]
    for hint in ("SetLockedHint", "SetIdleHint"):
        for value in ("true", "false"):
            call = [session, "org.freedesktop.login1.Session", hint, "b", value]
            subprocess.run([*bus, *call], check=True, capture_output=True, timeout=60)
            desk.expect(lambda session, there=value == "false": session["is_watched"] == there)


@pytest.fixture
def desktop(desk):
    """Reads the notifications on anna's desktop, in order."""
    mock = pathlib.Path(__file__).parent / "mocks/notifications.py"
    # Without the bus's own folders of services, no other program answers.
    with subprocess.Popen(desk.command("/usr/bin/python3", mock), stdout=subprocess.PIPE, text=True) as process:

        def read():
            assert select.select([process.stdout], [], [], BOUND)[0], "no notification"
            return json.loads(process.stdout.readline())

        assert read() == "ready"
        yield read
        process.terminate()


def test_an_alert_is_shown_and_a_click_on_it_opens_the_app(desk, desktop, journal):
    folder = pathlib.Path("/home/anna/.local/share/applications")
    desk.run("mkdir", "--parents", folder)
    entry = folder / "mail-app.desktop"
    entry.write_text("[Desktop Entry]\nType=Application\nName=Mail\nExec=sh -c \"exec sleep 1000\" %u\n")
    desk.refreshd.refreshctl("push", MAIL, '{"aps": {"content-available": 1, "alert": "1 < 2 & so on"}}')
    shown = desktop()
    assert (shown["summary"], shown["body"], shown["desktop"]) == ("mail", "1 &lt; 2 &amp; so on", "mail-app")
    assert shown["actions"] == ["default", "Open"]
    (ended,) = desk.refreshd.history(MAIL)
    assert (ended["trigger"], ended["outcome"]) == ("push", "new_data")
    notifications = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
    desk.run("busctl", "--user", "call", *notifications, "org.example.User", "Click", "u", str(shown["id"]))
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("systemctl", "--user", "stop", "app-refreshd-*.service")
    entry.unlink()
    desk.refreshd.refreshctl("push", MAIL, '{"aps": {"alert": {"title": "Anna", "body": "Hello"}}}')
    shown = desktop()
    assert (shown["summary"], shown["body"], shown["actions"]) == ("Anna", "Hello", [])


def test_a_failing_app_is_shown_and_pausing_it_for_today_skips_until_midnight(desk, desktop):
    """The button of the notice, by a real refresh-session: the daemon of the machine keeps it across a restart."""
    desk.refreshd.configure(FILE.replace('"never"', '"1h"').replace('["true"]', '["false"]'))
    desk.refreshd.refreshctl("reload")
    for _ in range(2):
        desk.refreshd.refreshctl("run", MAIL, check=False)
    shown = desktop()
    assert shown["summary"] == "mail" and shown["body"].startswith("The last 2 refreshes failed: exit code 1.")
    assert shown["actions"] == ["pause-today", "Pause for today"]
    notifications = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
    desk.run("busctl", "--user", "call", *notifications, "org.example.User", "Press", "us", str(shown["id"]), "pause-today")

    def skipped_until():
        why = json.loads(desk.refreshd.refreshctl("why", MAIL, "--json").stdout)["why"]
        return why.get("skipped_until_us", 0) // 1_000_000

    bound = Bound()
    while not skipped_until():
        assert bound.left, "the app is not paused"
    now = datetime.datetime.now()
    midnight = (now + datetime.timedelta(days=1)).replace(hour=0, minute=0, second=0, microsecond=0)
    assert abs(skipped_until() - midnight.timestamp()) <= 1
    desk.refreshd.refreshctl("run", MAIL, check=False)
    desk.refreshd.systemctl("restart", "refreshd")
    assert abs(skipped_until() - midnight.timestamp()) <= 1
    desk.refreshd.refreshctl("skip", MAIL, "--end")
    assert not skipped_until()


def test_a_click_starts_an_app_that_the_bus_starts(desk, desktop):
    """`DBusActivatable=true`: the app does not run, and the bus knows how to start it."""
    share = pathlib.Path("/home/anna/.local/share")
    desk.run("mkdir", "--parents", share / "applications", share / "dbus-1/services")
    entry, service = share / "applications/org.example.Bus.desktop", share / "dbus-1/services/org.example.Bus.service"
    entry.write_text("[Desktop Entry]\nType=Application\nName=Mail\nExec=true\nDBusActivatable=true\n")
    service.write_text(
        "[D-BUS Service]\nName=org.example.Bus\n"
        f"Exec=/usr/bin/python3 {pathlib.Path(__file__).parent}/mocks/activated.py\n"
    )
    desk.run("busctl", "--user", "call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")
    desk.refreshd.configure(FILE.replace('"mail-app", ', ""))
    desk.refreshd.refreshctl("reload")
    desk.refreshd.refreshctl("push", MAIL, '{"aps": {"alert": "Hello"}}')
    shown = desktop()
    assert shown["actions"] == ["default", "Open"]
    notifications = ("org.freedesktop.Notifications", "/org/freedesktop/Notifications")
    desk.run("busctl", "--user", "call", *notifications, "org.example.User", "Click", "u", str(shown["id"]))
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("busctl", "--user", "call", "org.example.Bus", "/org/example/Bus", "org.example.App", "Quit")
    entry.unlink()
    service.unlink()


def test_the_end_of_a_session_of_transfers_is_shown_by_the_session(desk, desktop, misbehaving, journal):
    path = "/home/anna/songs"
    desk.refreshd.refreshctl(
        "download", MAIL, misbehaving.url("plain", 1000), "--to", path, "--network", "none", "--notify", "All is there")
    assert desktop()["body"] == "All is there"
    assert not [entry for entry in journal.entries() if "desktop notification" in entry["MESSAGE"]]
    pathlib.Path(path).unlink()


def test_a_session_that_is_killed_is_started_again_and_tells_its_state(desk):
    desk.launch(r"app-mail\x2dapp@6.service")
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("systemctl", "--user", "kill", "--signal=KILL", "refresh-session.service")
    desk.refreshd.systemctl("restart", "refreshd")
    desk.expect(lambda session: session["running"] == [MAIL])
