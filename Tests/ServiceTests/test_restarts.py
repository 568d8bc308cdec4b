"""The daemon is restarted or killed while tasks run: they go on, and each has one outcome."""

import os
import pathlib
import select
import signal
import subprocess

import pytest

from gate import Gate
from service import app, is_alive

IDS = [f"org.example.app{number}" for number in range(20)]
STARTED = pathlib.Path("/run/started")

# It records its start, and waits at its app's gate.
TASK = """
echo $REFRESH_APP >> /run/started
echo at work
read _ < /run/gate.$REFRESH_APP
echo done
[ -e /run/fails.$REFRESH_APP ] && exit 3
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
    """The service with twenty running refreshes."""
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
    """The units of tasks, from systemd."""
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
    """Lets tasks end while no daemon runs; `units` has the unit of each app."""
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
    # No task ran twice.
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


def test_what_failed_while_the_daemon_was_dead_has_said_why(running, journal, gates):
    """The manager keeps the pipe of a task while the daemon restarts, also after the task has ended."""
    running.drop_in("[Service]\nRestartSec=4s\n")
    failing = {id: unit_of(running, id) for id in IDS[:2]}
    for id in failing:
        pathlib.Path(f"/run/fails.{id}").touch()
    os.kill(running.main_pid, signal.SIGKILL)
    end_unseen(gates, failing)
    journal.wait("daemonReady", count=2)
    for id in failing:
        journal.wait("refreshFailed", REFRESH_APP=id)
        [refresh] = running.history(id)
        assert (refresh["cause"]["code"], refresh["tasks"][0]["message"]) == (3, "done")
        assert refresh["duration_us"] < 4_000_000
        pathlib.Path(f"/run/fails.{id}").unlink()


# The output of a task before the restart, and its keys; after the restart it only exits with 0.
BEFORE = [
    ("echo news", 'new_data = "output"', "new_data"),
    # A line without its end.
    ("printf new", 'new_data = "output"', "new_data"),
    ("true", 'new_data = "output"', "no_data"),
    ("date +%N > /run/data", 'new_data = "changed:/run/data"', "new_data"),
    ("true", 'new_data = "changed:/run/data"', "no_data"),
]


@pytest.mark.parametrize("command, key, outcome", BEFORE)
def test_what_happened_before_a_restart_counts_after_it(refreshd, journal, gates, command, key, outcome):
    id = IDS[0]
    there = Gate("/run/there")
    pathlib.Path("/run/data").write_text("old")
    refreshd.launch_by("systemd")
    refreshd.configure(app(f"{command}; echo > /run/there; read _ < /run/gate.$REFRESH_APP", id=id) + key)
    refreshd.start()
    client = subprocess.Popen(["refreshctl", "run", id], stdout=subprocess.PIPE, text=True)
    there.wait()
    if "news" in command:
        journal.wait("taskOutput")
    refreshd.systemctl("restart", "refreshd.service")
    gates[id].open()
    journal.wait("refreshFinished")
    [refresh] = refreshd.history(id)
    assert refresh["outcome"] == outcome
    client.wait(timeout=60)
    there.close()


def test_a_task_keeps_its_token_over_a_restart(refreshd, journal, gates):
    id = IDS[0]
    refreshd.launch_by("systemd")
    refreshd.configure(app("echo at work; read _ < /run/gate.$REFRESH_APP; refreshctl complete no-data; exit 1", id=id))
    refreshd.start()
    client = refreshd.run_in_background(id)
    refreshd.systemctl("restart", "refreshd.service")
    gates[id].open()
    journal.wait("refreshFinished")
    assert [refresh["outcome"] for refresh in refreshd.history(id)] == ["no_data"]
    client.wait(timeout=60)


def test_what_a_task_has_said_of_itself_counts_after_a_restart(refreshd, journal, gates):
    id = IDS[0]
    refreshd.launch_by("systemd")
    refreshd.configure(
        app("refreshctl complete no-data --message 'nothing new'; echo at work; read _ < /run/gate.$REFRESH_APP", id=id)
    )
    refreshd.start()
    client = refreshd.run_in_background(id)
    refreshd.systemctl("restart", "refreshd.service")
    gates[id].open()
    journal.wait("refreshFinished")
    [refresh] = refreshd.history(id)
    assert (refresh["outcome"], refresh["tasks"][0]["message"]) == ("no_data", "nothing new")
    client.wait(timeout=60)


def test_what_runs_of_an_app_that_was_taken_away_meanwhile_ends(refreshd, journal):
    refreshd.launch_by("systemd")
    refreshd.configure(app("echo at work; echo $$ > /run/pid; sleep 1000", id=IDS[0]), app("exit 0", id=IDS[1]))
    refreshd.start()
    client = refreshd.run_in_background(IDS[0])
    refreshd.stop()
    refreshd.configure(app("exit 0", id=IDS[1]))
    refreshd.start()
    assert not is_alive(int(pathlib.Path("/run/pid").read_text()))
    assert units() == []
    client.wait(timeout=60)
