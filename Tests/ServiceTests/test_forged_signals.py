"""A user without any right speaks on the system bus for logind, systemd and the others; nobody believes it.

A match rule does not help: the bus delivers a signal to one connection without a look at the rules.
"""

import json
import pathlib
import subprocess

import pytest

from forging import UPOWER, Forger
from service import TODO, app
from test_desktop import FILE, MAIL, desk, lingering  # noqa: F401
from test_desktop_notices import desktop  # noqa: F401
from test_unit_tasks import WAIT, gate, unit_app, wait_for_line, write_unit  # noqa: F401

# sd-bus makes this one itself when a connection has ended.
DISCONNECTED = ("/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected")


@pytest.fixture
def system(bus_policy):
    """The user `nobody` on the system's bus."""
    return Forger("--system")


@pytest.fixture
def networkd():
    subprocess.run(["systemctl", "start", "systemd-networkd.service"], check=True, timeout=60)
    yield
    # Its socket would start it again.
    command = ["systemctl", "stop", "systemd-networkd.socket", "systemd-networkd.service"]
    subprocess.run(command, check=True, timeout=60)


@pytest.mark.parametrize("source", ["NetworkManager", "systemd-networkd"])
def test_no_condition_of_the_machine_changes(source, request, mock, upower, probe, system):
    profiles = mock("powerprofiles", f"{UPOWER}.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles")
    request.getfixturevalue("network_manager" if source == "NetworkManager" else "networkd")
    seen = probe("network", "power", "powerSaver", "idle")
    seen.wait("started")
    seen.wait("network", source=source)
    seen.wait("power", source="UPower")
    seen.wait("powerSaver", value=False)
    seen.wait("idle", value=True)
    system.forge(seen.process.pid, more=[DISCONNECTED])
    profiles.set(ActiveProfile=("s", "power-saver"))
    line = seen.next()
    assert (line["event"], line.get("value")) == ("powerSaver", True), f"a forged signal had an effect: {line}"


def test_a_running_task_is_neither_stopped_nor_taken_for_ended(refreshd, journal, system, anna, gate):  # noqa: F811
    refreshd.configure(app("echo at work; read _ < /run/gate; exit 0"), app("exit 0", id=MAIL, owner="anna"))
    pathlib.Path("/etc/refreshd/refreshd.toml").write_text('sessions = "logind"\n')
    refreshd.start()
    refreshd.run_in_background()
    [unit] = subprocess.run(
        ["systemctl", "list-units", "--plain", "--no-legend", "refreshd-task-*"], check=True, capture_output=True, text=True
    ).stdout.split()[:1]  # fmt: skip
    forged = system.forge(refreshd.main_pid, unit, more=[DISCONNECTED])
    assert {"PrepareForSleep", "SessionNew", "SessionRemoved", "PropertiesChanged"} <= forged
    assert [each["outcome"] for each in refreshd.history()] == []
    gate.open()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    [refresh] = refreshd.history()
    assert (refresh["outcome"], refresh.get("stop_reason")) == ("new_data", None)


def test_a_unit_of_a_task_is_not_taken_for_ended(refreshd, system, write_unit, gate):  # noqa: F811
    write_unit("Type=oneshot", WAIT)
    refreshd.configure(unit_app())
    refreshd.start()
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.PIPE, bufsize=0)
    wait_for_line(running, "at work")
    worker = f"refreshd-task-{refreshd.app()['running']['id']}-0.service"
    pid = subprocess.run(
        ["systemctl", "show", "--value", "--property=MainPID", worker], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert {"JobRemoved", "PropertiesChanged"} <= system.forge(pid, "sync-mail.service")
    gate.open()
    assert running.wait(60) == 0
    assert refreshd.history()[0]["outcome"] == "new_data"


def test_a_desktop_keeps_its_apps_its_notices_and_its_windows(desk, desktop, system, log_in):  # noqa: F811
    """Only programs of the user reach the bus of the user, such as those in sandboxes; all may use the system's."""
    log_in("anna", type="x11")
    unit = r"app-mail\x2dapp@6.service"
    desk.launch(unit)
    desk.expect(lambda session: session["running"] == [MAIL])
    desk.refreshd.configure(FILE.replace('"never"', '"1h"').replace('["true"]', '["false"]'))
    desk.refreshd.refreshctl("reload")
    for _ in range(2):
        desk.refreshd.refreshctl("run", MAIL, check=False)
    assert "pause-today" in desktop()["actions"]
    pid = desk.run("systemctl", "--user", "show", "--value", "--property=MainPID", "refresh-session.service").stdout.strip()
    own = Forger("--user", command=desk.command, stranger=desk.command)
    assert {"UnitNew", "UnitRemoved", "ActionInvoked", "NotificationClosed"} <= own.forge(pid, unit, more=[DISCONNECTED])
    assert {"PrepareForSleep", "PropertiesChanged"} <= system.forge(pid, more=[DISCONNECTED])
    [connection] = own.connections(pid)
    # Calls that only KWin may make.
    show = ("/org/refreshd/Windows", "org.refreshd.Windows", "Show", "s", '[[2,0,"mail-app"]]')
    refused = desk.run("busctl", "--user", "call", connection, *show, check=False)
    assert refused.returncode != 0
    session = desk.expect(lambda session: True)
    assert (session["running"], session["front"], session["is_watched"]) == ([MAIL], [], True)
    desk.stop(unit)
    desk.expect(lambda session: session["running"] == [])
    why = json.loads(desk.refreshd.refreshctl("why", MAIL, "--json").stdout)["why"]
    assert "skipped_until_us" not in why
