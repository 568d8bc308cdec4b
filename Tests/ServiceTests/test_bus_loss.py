"""The bus goes away and comes back: running tasks go on, new tasks wait, and each refresh has one outcome."""

import os
import subprocess

import pytest

from gate import Gate
from service import app

WAITS, ENDS, FAILS, OVERDUE, LATER, LATE = (
    f"org.example.{name}" for name in ("waits", "ends", "fails", "overdue", "later", "late")
)
# It ends when it is asked to; only the daemon asks so early, because the manager's timeout comes after the grace.
OBEYS = "trap 'echo told; exit 0' TERM; echo at work; while :; do sleep 0.1; done"


@pytest.fixture
def gates():
    gates = {id: Gate(f"/run/gate.{id}") for id in (WAITS, ENDS, FAILS)}
    yield gates
    for gate in gates.values():
        gate.close()


def test_a_bus_that_goes_and_comes_costs_no_refresh(refreshd, journal, gates, bus):
    gate = "echo at work; read _ < /run/gate.$REFRESH_APP; echo done"
    refreshd.launch_by("systemd", "max_concurrent = 20\n")
    refreshd.configure(
        app(f"{gate}; exit 100", id=WAITS), app(f"{gate}; exit 100", id=ENDS), app(f"{gate}; exit 3", id=FAILS),
        app(OBEYS, id=OVERDUE, deadline="3s", grace="1min"), app("exit 100", id=LATER), app("exit 100", id=LATE, deadline="1s"),
    )
    refreshd.start()
    clients = [refreshd.run_in_background(id) for id in [*gates, OVERDUE]]

    bus("stop")
    clients += [subprocess.Popen(["refreshctl", "run", id], stdout=subprocess.DEVNULL) for id in (LATER, LATE)]
    # A refresh that cannot start before its deadline fails, with the reason.
    journal.wait("refreshFailed", REFRESH_APP=LATE)
    [late] = refreshd.history(LATE)
    assert "systemd cannot be reached at present: " in refreshd.call("Status")["status"]["launcher_reason"]
    # Two tasks end while the bus is away.
    gates[ENDS].open()
    gates[FAILS].open()
    assert refreshd.history(LATER) == []
    # A task reaches its deadline, and the daemon cannot stop it.
    journal.wait("deadlinePassed", REFRESH_APP=OVERDUE)
    bus("start")

    journal.wait("refreshFinished", REFRESH_APP=LATER)
    journal.wait("refreshFinished", REFRESH_APP=ENDS)
    journal.wait("refreshFailed", REFRESH_APP=FAILS)
    journal.wait("refreshFailed", REFRESH_APP=OVERDUE)
    [overdue] = refreshd.history(OVERDUE)
    assert (overdue["stop_reason"], overdue["tasks"][0]["message"]) == ("deadline", "told")
    assert "running" in refreshd.app(WAITS)
    gates[WAITS].open()
    journal.wait("refreshFinished", REFRESH_APP=WAITS)
    for id in (WAITS, ENDS, FAILS):
        [refresh] = refreshd.history(id)
        assert refresh["tasks"][0]["message"] == "done"
    assert refreshd.history(FAILS)[0]["cause"]["code"] == 3
    assert late["stop_reason"] == "deadline"
    assert late["tasks"][0]["message"].startswith("cannot start /bin/sh: the service manager could not be reached: ")
    for client in clients:
        client.wait(timeout=60)


def test_a_task_that_ends_before_its_unit_is_followed_has_its_end(refreshd):
    """Nobody else follows units, and the daemon gets little of the processor: it asks for the changes when all is over."""
    subprocess.run(["systemctl", "stop", "systemd-logind.service"], check=True, timeout=60)
    refreshd.launch_by("systemd")
    refreshd.configure(app("exit 100", id=LATER, deadline="5s"))
    refreshd.start()
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        subprocess.run(["renice", "19", str(refreshd.main_pid)], check=True, stdout=subprocess.DEVNULL)
        for _ in range(5):
            refreshd.refreshctl("run", LATER, check=False)
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        subprocess.run(["systemctl", "start", "systemd-logind.service"], check=True, timeout=60)
    assert {refresh["outcome"] for refresh in refreshd.history(LATER)} == {"no_data"}
