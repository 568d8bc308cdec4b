"""Tasks of the kind `activate`: an app of GLib that the bus of a lingering user starts, and that refreshes itself."""

import pathlib
import subprocess

import pytest

from service import TODO, as_user
from waiting import Bound

NOTES = "org.example.Notes"
HOME = pathlib.Path("/home/anna")
FILE = f"""
id = "{TODO}"
owner = "anna"
background_interval = "never"
deadline = "20s"
[[task]]
activate = "{NOTES}"
"""


def bus(*words, check=True):
    """Calls the bus of anna."""
    runtime = f"/run/user/{HOME.stat().st_uid}"
    variables = [f"XDG_RUNTIME_DIR={runtime}", f"DBUS_SESSION_BUS_ADDRESS=unix:path={runtime}/bus"]
    command = ["runuser", "-u", "anna", "--", "env", *variables, "busctl", "--user", *words]
    return subprocess.run(command, check=check, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def installed_app(installed):
    """The app is known to the bus of anna, who lingers."""
    uid = HOME.stat().st_uid
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    subprocess.run(["systemctl", "start", f"user@{uid}.service"], check=True, timeout=60)
    folder = HOME / ".local/share/dbus-1/services"
    assert as_user("anna", "mkdir", "--parents", str(folder)).returncode == 0
    file = folder / f"{NOTES}.service"
    app = pathlib.Path(__file__).parent / "mocks/refresh_app.py"
    file.write_text(f"[D-BUS Service]\nName={NOTES}\nExec=/usr/bin/python3 {app}\n")
    bus("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")
    yield
    file.unlink()
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
    subprocess.run(["systemctl", "stop", f"user@{uid}.service"], check=True, timeout=60)


@pytest.fixture
def ran(installed_app, either):
    """Runs a refresh with an app that behaves so; returns what the history and `run` say of it."""
    worked = HOME / "worked"

    def run(mode, file=FILE):
        (HOME / "mode").write_text(mode)
        either.stop()
        either.configure(file)
        either.start()
        shown = either.refreshctl("run", TODO, check=False)
        return either.history()[0], shown.stdout + shown.stderr

    run.daemon = either
    run.worked = lambda: worked.read_text().split() if worked.exists() else []
    yield run
    # The owner of the name is the app.
    pid = bus("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID", "s", NOTES, check=False)
    if pid.returncode == 0:
        subprocess.run(["kill", "-KILL", pid.stdout.split()[1]], timeout=60)
    worked.unlink(missing_ok=True)


def test_the_bus_starts_an_app_that_refreshes_itself_and_ends(ran):
    refresh, _ = ran("ends")
    assert (refresh["outcome"], refresh["tasks"][0]["name"]) == ("new_data", "activate")
    assert ran.worked() == ["ends"]
    assert f"have {NOTES} refresh itself" in ran.daemon.refreshctl("status", TODO).stdout


def test_an_app_that_attaches_performs_the_refresh_for_which_it_was_started(ran):
    refresh, _ = ran("attaches")
    assert refresh["outcome"] == "no_data" and refresh["tasks"][0]["message"] == "attached"
    assert ran.worked() == ["attaches"]
    assert len(ran.daemon.history()) == 1
    # The worker that activated it may end after the refresh; its unit is forgotten all the same.
    bound = Bound()
    while ran.daemon.systemctl("list-units", "--all", "--plain", "--no-legend", "refreshd-task-*").stdout:
        assert bound.left, "the unit of the worker stays"
    # It has ended, so it is started again.
    ran.daemon.refreshctl("run", TODO, check=False)
    assert ran.worked() == ["attaches", "attaches"]
    assert [refresh["outcome"] for refresh in ran.daemon.history()] == ["no_data", "no_data"]


def outcomes(ran):
    """The history, oldest first: outcomes, and the reasons of stops."""
    return [refresh.get("stop_reason", refresh["outcome"]) for refresh in reversed(ran.daemon.history())]


def wait_for_outcomes(ran, *wanted):
    bound = Bound()
    while outcomes(ran) != list(wanted):
        assert bound.left, outcomes(ran)


def test_an_app_that_was_about_to_quit_is_started_again_and_has_not_failed(ran):
    ran("quits")
    wait_for_outcomes(ran, "not_taken", "not_taken", "no_data")
    assert ran.worked() == ["quits"] * 3
    assert "failing" not in ran.daemon.refreshctl("status").stdout


def test_an_app_that_always_leaves_is_started_three_times_again_and_has_failed(ran):
    ran("leaves")
    wait_for_outcomes(ran, "not_taken", "not_taken", "not_taken", "failed")
    assert ran.worked() == ["leaves"] * 4
    assert ran.daemon.history()[0]["cause"]["kind"] == "lost_client"


def test_an_app_that_goes_on_counts_as_refreshed_before_the_deadline(ran):
    refresh, shown = ran("stays", FILE.replace("20s", "6s"))
    assert refresh["outcome"] == "new_data"
    assert f"{NOTES} was asked and is still running" in shown
    # It runs already, so it is only waited for whether it attaches.
    refresh, shown = ran("stays")
    assert refresh["outcome"] == "new_data"
    assert f"{NOTES} was asked and is still running" in shown
    assert ran.worked() == ["stays", "stays"]


def test_an_app_that_attaches_after_its_answer_performs_the_refresh(ran):
    for _ in range(2):
        # The second time it runs already.
        refresh, _ = ran("late")
        assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("no_data", "attached")
    assert ran.worked() == ["late", "late"]


def test_an_app_that_goes_on_is_no_success_of_a_refresh_that_is_stopped(ran):
    ran.daemon.stop()
    (HOME / "mode").write_text("stays")
    ran.daemon.configure(FILE.replace("20s", "1min"))
    ran.daemon.start()
    run = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    bound = Bound()
    while not ran.worked():
        assert bound.left, "the app was not asked to refresh"
    ran.daemon.refreshctl("expire", TODO)
    run.wait(60)
    refresh = ran.daemon.history()[0]
    assert (refresh["outcome"], refresh["stop_reason"]) == ("failed", "deadline")


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("other", f'cannot refresh {NOTES}: it has no action "refresh"; it has compose'),
        ("crashes", f"cannot refresh {NOTES}: "),
    ],
)
def test_an_app_that_cannot_refresh_is_named_with_the_reason(ran, mode, message):
    refresh, _ = ran(mode)
    assert refresh["outcome"] == "failed"
    assert message in refresh["tasks"][0]["message"]
    assert ran.worked() == []


def test_an_app_that_the_bus_does_not_know_is_named(ran):
    refresh, _ = ran("ends", FILE.replace(NOTES, "org.example.Nobody"))
    assert refresh["outcome"] == "failed"
    assert "the session bus does not know an app of this name" in refresh["tasks"][0]["message"]


def test_a_user_who_is_not_logged_in_has_no_bus(ran):
    refresh, _ = ran("ends", FILE.replace("anna", "daemon"))
    assert refresh["outcome"] == "failed"
    assert "enable-linger" in refresh["tasks"][0]["message"]
