"""systemd does not reply in time, or re-executes itself: no task is lost, killed or refused because of it."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys

import pytest
import varlink

from gate import Gate
from mock import busctl
from service import SOCKET, app
from waiting import Bound

IDS = [f"org.example.app{number}" for number in range(10)]
STRAY = "refreshd-task-99-1-0.service"
# It has much memory to free at its end, so that it takes a moment to exit.
SLOW = """
import os, signal, socket
memory = bytearray(os.urandom(1 << 20)) * 300
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"READY=1", os.environ["NOTIFY_SOCKET"])
signal.pause()
"""
TASK = "echo at work; read _ < /run/gate.$REFRESH_APP; echo done; exit 100"


@pytest.fixture
def gates():
    gates = {id: Gate(f"/run/gate.{id}") for id in IDS[:3]}
    yield gates
    for gate in gates.values():
        gate.close()


@contextlib.contextmanager
def silent_bus():
    """The system bus accepts messages, and does not reply."""
    bus = int(property_of("dbus.service", "MainPID"))
    os.kill(bus, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(bus, signal.SIGCONT)


def property_of(unit, name):
    command = ["systemctl", "show", "--value", f"--property={name}", unit]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


def units(*filters):
    command = ["systemctl", "list-units", "--all", "--plain", "--no-legend", *filters, "refreshd-task-*"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    return sorted(line.split()[0] for line in lines)


def execute_anew():
    subprocess.run(["systemctl", "daemon-reexec"], check=True, capture_output=True, timeout=60)


def test_a_daemon_that_cannot_ask_at_its_start_takes_nothing_for_lost(refreshd, journal, gates):
    refreshd.launch_by("systemd", "max_concurrent = 20\n")
    refreshd.configure(*[app(TASK, id=id, deadline="5min") for id in gates])
    refreshd.start()
    clients = [refreshd.run_in_background(id) for id in gates]
    before = {unit: property_of(unit, "MainPID") for unit in units()}
    assert len(before) == 3
    with silent_bus():
        os.kill(refreshd.main_pid, signal.SIGKILL)
        journal.wait("daemonReady", count=2)
        assert all("running" in refreshd.app(id) for id in gates)
    for id, gate in gates.items():
        assert {unit: property_of(unit, "MainPID") for unit in units("--state=running")}.items() <= before.items()
        gate.open()
        journal.wait("refreshFinished", REFRESH_APP=id)
        [refresh] = refreshd.history(id)
        assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("no_data", "done")
    for client in clients:
        client.wait(timeout=60)


def test_a_bus_that_is_slow_at_the_start_does_not_make_tasks_children(refreshd, journal):
    refreshd.launch_by("auto")
    refreshd.configure(app("exit 100", id=IDS[0]))
    with silent_bus():
        refreshd.start()
        status = refreshd.call("Status")["status"]
        assert status["launcher"] == "systemd"
        assert "systemd cannot be reached at present" in status["launcher_reason"]
    refreshd.refreshctl("run", IDS[0], check=False)
    assert refreshd.call("Status")["status"]["launcher_reason"] == "systemd manages this machine"
    assert [refresh["outcome"] for refresh in refreshd.history(IDS[0])] == ["no_data"]


@pytest.fixture
def nameless(bus):
    """systemd is on the bus, possibly without its name until it re-executes itself."""
    policy = pathlib.Path("/etc/dbus-1/system.d/nameless.conf")
    policy.write_text(
        '<busconfig><policy context="mandatory"><deny own="org.freedesktop.systemd1"/></policy></busconfig>'
    )
    bus("stop")
    bus("start")

    def end():
        if policy.exists():
            policy.unlink()
            busctl("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")
            execute_anew()

    yield end
    end()


def test_what_is_to_start_while_systemd_has_no_name_on_the_bus_starts_later(refreshd, journal, nameless):
    refreshd.launch_by("systemd", "max_concurrent = 20\n")
    refreshd.configure(app("exit 100", id=IDS[0], deadline="5min"), app("exit 100", id=IDS[1], deadline="1s"))
    refreshd.start()
    clients = [subprocess.Popen(["refreshctl", "run", id], stdout=subprocess.DEVNULL) for id in IDS[:2]]
    journal.wait("refreshFailed", REFRESH_APP=IDS[1])
    [late] = refreshd.history(IDS[1])
    assert late["stop_reason"] == "deadline"
    assert late["tasks"][0]["message"].startswith("cannot start /bin/sh: the service manager could not be reached: ")
    assert "running" in refreshd.app(IDS[0])
    nameless()
    journal.wait("refreshFinished", REFRESH_APP=IDS[0])
    assert [refresh["outcome"] for refresh in refreshd.history(IDS[0])] == ["no_data"]
    for client in clients:
        client.wait(timeout=60)


def test_two_hundred_refreshes_may_start_and_end_at_once(refreshd, journal):
    ids = [f"org.example.many{number}" for number in range(200)]
    refreshd.launch_by("systemd", "max_concurrent = 200\n")
    refreshd.configure(*[app("exit 100", id=id, deadline="5min") for id in ids])
    refreshd.start()
    with silent_bus(), varlink.Client(address=f"unix:{SOCKET}") as client:
        # Each call has its own connection, because the calls of one connection are served in order.
        for id in ids:
            with client.open("org.refreshd.Manager") as manager:
                manager.Run(app=id, _oneway=True)
        journal.wait("refreshStarted", count=200)
    journal.wait("refreshFinished", count=200, seconds=60)
    assert {id: [refresh["outcome"] for refresh in refreshd.history(id)] for id in ids} == {id: ["no_data"] for id in ids}


def test_a_unit_has_one_reference_however_often_systemd_executes_itself_anew(refreshd, journal, gates):
    id = IDS[0]
    refreshd.launch_by("systemd")
    refreshd.configure(app(TASK, id=id), app("exit 100", id=IDS[1]))
    refreshd.start()
    client = refreshd.run_in_background(id)
    [unit] = units()
    for _ in range(2):
        execute_anew()
    # A later call gets its reply later.
    refreshd.refreshctl("run", IDS[1], check=False)
    assert len(property_of(unit, "Refs").split()) == 1
    gates[id].open()
    journal.wait("refreshFinished", REFRESH_APP=id)
    client.wait(timeout=60)
    refreshd.refreshctl("run", IDS[1], check=False)
    assert unit not in units()


@pytest.mark.parametrize("when", ["at the start", "later"])
def test_a_unit_that_nobody_knows_ends_and_leaves_nothing(refreshd, journal, when):
    refreshd.launch_by("systemd")
    refreshd.configure(app("exit 100", id=IDS[1]))
    refreshd.start()
    # systemd answers calls in order: after a run the daemon has the units of its start.
    refreshd.refreshctl("run", IDS[1], check=False)
    if when == "at the start":
        refreshd.stop()
    subprocess.run(
        ["systemd-run", "--quiet", f"--unit={STRAY}", "--slice=refreshd-org.example.gone.slice",
         "--property=Type=notify", "--property=RemainAfterExit=yes", sys.executable, "-c", SLOW],
        check=True, timeout=60,
    )
    stray = os.pidfd_open(int(property_of(STRAY, "MainPID")))
    refreshd.start() if when == "at the start" else execute_anew()
    assert select.select([stray], [], [], 30)[0]
    os.close(stray)
    refreshd.refreshctl("run", IDS[1], check=False)
    # The manager forgets the unit of the last run a moment after its end.
    bound = Bound()
    while units():
        assert bound.left, units()


def test_no_unit_and_no_token_stays_when_tasks_become_children(refreshd, journal, gates):
    id = IDS[0]
    refreshd.launch_by("systemd")
    refreshd.configure(app(TASK, id=id))
    refreshd.start()
    client = refreshd.run_in_background(id)
    refreshd.stop()
    assert len(units()) == 1
    refreshd.launch_by("spawn")
    refreshd.start()
    assert units() == []
    assert not list(pathlib.Path("/run/refreshd").glob("tasks/*"))
    client.wait(timeout=60)
