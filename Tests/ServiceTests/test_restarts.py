"""The daemon is restarted, killed or away while tasks run: they do not notice, and each has one outcome (FEATURES B5)."""

import os
import pathlib
import select
import signal
import subprocess

import pytest

from gate import Gate
from service import app

IDS = [f"org.example.app{number}" for number in range(20)]
STARTED = pathlib.Path("/run/started")

# Notes that it was started, and waits at its app's gate.
TASK = """
echo $REFRESH_APP >> /run/started
echo at work
read _ < /run/gate.$REFRESH_APP
echo done
exit 100
"""


@pytest.fixture
def gates():
    gates = {id: Gate(f"/run/gate.{id}") for id in IDS}
    STARTED.write_text("")
    yield gates
    for gate in gates.values():
        gate.close()
    STARTED.unlink()


@pytest.fixture
def running(refreshd, gates, journal):
    """The service with twenty refreshes in the middle of their work."""
    refreshd.launch_by("systemd", "max_concurrent = 20\n")
    refreshd.configure(*[app(TASK, id=id, deadline="5min") for id in IDS])
    refreshd.start()
    clients = [
        subprocess.Popen(["refreshctl", "run", id], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for id in IDS
    ]
    journal.wait("taskOutput", count=20)
    yield refreshd
    for client in clients:
        client.kill()
        client.wait()


def units(state="active"):
    """The units of tasks, as systemd has them."""
    command = ["systemctl", "list-units", "--all", "--plain", "--no-legend", f"--state={state}", "refreshd-task-*"]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split()[0] for line in lines]


def unit_of(refreshd, id):
    """The unit of the app's only task."""
    return f"refreshd-task-{refreshd.app(id)['running']['id']}-0.service"


def main_pid(unit):
    command = ["systemctl", "show", "--value", "--property=MainPID", unit]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def end_unseen(gates, units):
    """Lets tasks end that no daemon looks at; `units` has the unit of each app."""
    processes = [os.pidfd_open(main_pid(unit)) for unit in units.values()]
    for id in units:
        gates[id].open()
    for process in processes:
        assert select.select([process], [], [], 30)[0]
        os.close(process)


def check_outcomes(refreshd, journal, gates, ended=()):
    for id in IDS:
        if id not in ended:
            gates[id].open()
    journal.wait("refreshFinished", count=20)
    for id in IDS:
        [refresh] = refreshd.history(id)
        assert (refresh["id"].split("-")[0], refresh["outcome"], refresh["tasks"][0]["message"]) == ("1", "no_data", "done")
    # None ran twice.
    assert sorted(STARTED.read_text().split()) == sorted(IDS)
    assert units() == units("failed") == []
    assert list(pathlib.Path("/run/refreshd/tasks").iterdir()) == []


def test_a_restart_interrupts_nothing(running, journal, gates):
    before = {unit: main_pid(unit) for unit in units()}
    assert len(before) == 20
    running.systemctl("restart", "refreshd.service")
    assert {unit: main_pid(unit) for unit in units()} == before
    assert all(running.app(id)["running"]["id"].startswith("1-") for id in IDS)
    check_outcomes(running, journal, gates)


def test_a_kill_interrupts_nothing(running, journal, gates):
    before = {unit: main_pid(unit) for unit in units()}
    os.kill(running.main_pid, signal.SIGKILL)
    journal.wait("daemonReady", count=2)
    assert {unit: main_pid(unit) for unit in units()} == before
    check_outcomes(running, journal, gates)


def test_what_ended_while_nobody_looked_has_the_outcome_that_it_had(running, journal, gates):
    ended = {id: unit_of(running, id) for id in IDS[:5]}
    running.stop()
    end_unseen(gates, ended)
    running.start()
    check_outcomes(running, journal, gates, ended)
