"""refresh-session as a unit of a lingering user: units, bus names and logind, without windows."""

import json
import pathlib
import subprocess

import pytest

from test_conditions_logind import MANAGER as LOGIND
from waiting import Bound

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
    """The manager of anna, and the reports about her session to the daemon."""

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

    def hint(self, name, value):
        """Has logind say of anna's display session that it is, or is no longer, `Locked` or `Idle`."""
        bus = ["busctl", "--json=short"]
        user = [*LOGIND, "GetUser", "u", str(self.uid)]
        path = json.loads(subprocess.run([*bus, "call", *user], check=True, capture_output=True).stdout)["data"][0]
        display = [LOGIND[0], path, f"{LOGIND[0]}.User", "Display"]
        shown = subprocess.run([*bus, "get-property", *display], check=True, capture_output=True)
        session = [LOGIND[0], json.loads(shown.stdout)["data"][1], f"{LOGIND[0]}.Session"]
        call = [*bus, "call", *session, f"Set{name}Hint", "b", str(value).lower()]
        subprocess.run(call, check=True, capture_output=True, timeout=60)

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


def test_an_app_runs_until_the_last_of_its_processes_has_ended(desk):
    """Its launcher forks and ends."""
    scope = ("systemd-run", "--user", "--quiet", "--scope", "--slice=app.slice", "--collect")
    forks = ("sh", "-c", "sleep 1000 & exec true")
    desk.launch("forking", command=(*scope, r"--unit=app-gnome-mail\x2dapp-9", *forks))
    bound = Bound()
    while desk.run("systemctl", "--user", "is-active", "forking.service", check=False).returncode == 0:
        assert bound.left, "the launcher does not end"
    assert desk.expect(lambda session: session["running"] == [MAIL])
    desk.stop(r"app-gnome-mail\x2dapp-9.scope")
    desk.expect(lambda session: session["running"] == [])


def test_a_name_on_the_bus_means_that_the_app_runs(desk):
    desk.launch("holder", command=("/usr/bin/python3", "-m", "dbusmock", "--session", "org.example.Bus", "/", "org.example.Bus"))
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.stop("holder.service")
    desk.expect(lambda session: session["running"] == [])


def test_a_session_that_is_locked_or_idle_has_nobody_there(desk, log_in):
    log_in("anna", type="wayland")
    desk.expect(lambda session: session["is_watched"])
    for name in ("Locked", "Idle"):
        for value in (True, False):
            desk.hint(name, value)
            desk.expect(lambda session, there=not value: session["is_watched"] == there)


def test_a_session_that_is_killed_is_started_again_and_tells_its_state(desk):
    desk.launch(r"app-mail\x2dapp@6.service")
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.run("systemctl", "--user", "kill", "--signal=KILL", "refresh-session.service")
    desk.refreshd.systemctl("restart", "refreshd")
    desk.expect(lambda session: session["running"] == [MAIL])
