"""The bus goes away and comes back: what runs goes on, what is to start waits, and each has its one outcome."""

import subprocess

import pytest

from gate import Gate
from service import app

WAITS, ENDS, FAILS, OVERDUE, LATER, LATE = (
    f"org.example.{name}" for name in ("waits", "ends", "fails", "overdue", "later", "late")
)
# Ends when it is asked to, and nothing else asks it so soon: the manager's own bound is after the grace.
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
    # One that cannot be started by its deadline has failed, and says why.
    journal.wait("refreshFailed", REFRESH_APP=LATE)
    [late] = refreshd.history(LATE)
    assert "systemd cannot be reached at present: " in refreshd.call("Status")["status"]["launcher_reason"]
    # Two end while nobody tells us.
    gates[ENDS].open()
    gates[FAILS].open()
    assert refreshd.history(LATER) == []
    # One is to be stopped, and nobody can do it.
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
