"""Refreshes that nobody waits for give way to what the user does."""

import subprocess

import pytest

from gate import Gate
from service import TODO, app

WAIT = "echo at work; read _ < /run/gate"


@pytest.fixture
def gate():
    gate = Gate("/run/gate")
    yield gate
    gate.close()


def weights(unit):
    command = ["systemctl", "show", "--property=CPUWeight", "--property=IOWeight", unit]
    lines = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.splitlines()
    return tuple(line.split("=")[1] for line in sorted(lines))


def start(daemon, *options, id=TODO, count=1):
    """Starts the refresh number `count` of an app and waits until its task runs."""
    process = subprocess.Popen(["refreshctl", "run", id, *options], stdout=subprocess.DEVNULL)
    daemon.journal.wait("taskOutput", count, REFRESH_APP=id)
    return process


def task_of(daemon, id=TODO):
    return f"refreshd-task-{daemon.app(id)['running']['id']}-0.service"


LOW, USUAL = ("20", "20"), ("100", "100")
UNSET = ("[not set]", "[not set]")


def test_a_task_and_its_slices_give_way_until_somebody_waits(refreshd, gate):
    other = "org.example.other"
    refreshd.launch_by("systemd")
    refreshd.configure(app(WAIT), app(WAIT, id=other))
    refreshd.start()
    slices = ["refreshd.slice", f"refreshd-{TODO}.slice", f"refreshd-{other}.slice"]
    behind = start(refreshd, "--trigger", "interval")
    assert weights(task_of(refreshd)) == LOW
    assert [weights(slice) for slice in slices[:2]] == [LOW, LOW]
    asked = start(refreshd, id=other)
    assert weights(task_of(refreshd, other)) == UNSET
    assert [weights(slice) for slice in slices[:2]] == [USUAL, LOW]
    assert weights(slices[2]) == USUAL
    gate.open()
    gate.open()
    assert (behind.wait(60), asked.wait(60)) == (0, 0)
    again = start(refreshd, "--trigger", "interval", count=2)
    assert weights(slices[0]) == LOW
    gate.open()
    assert again.wait(60) == 0


def test_a_daemon_that_starts_anew_takes_the_low_weight_of_the_one_before_away(refreshd, gate):
    refreshd.launch_by("systemd")
    refreshd.configure(app(WAIT))
    refreshd.start()
    behind = start(refreshd, "--trigger", "interval")
    gate.open()
    assert behind.wait(60) == 0
    slices = ["refreshd.slice", f"refreshd-{TODO}.slice"]
    assert [weights(slice) for slice in slices] == [LOW, LOW]
    refreshd.systemctl("restart", "refreshd.service")
    asked = start(refreshd, count=2)
    assert [weights(slice) for slice in slices] == [USUAL, USUAL]
    gate.open()
    assert asked.wait(60) == 0


def test_a_file_may_ask_for_the_usual_weight(refreshd, gate):
    refreshd.launch_by("systemd")
    refreshd.configure(app(WAIT, background_priority="normal"))
    refreshd.start()
    behind = start(refreshd, "--trigger", "interval")
    assert weights(task_of(refreshd)) == UNSET
    gate.open()
    assert behind.wait(60) == 0


def test_a_child_of_the_daemon_is_nice(spawned):
    spawned.configure(app("nice; ionice; cat /proc/self/stat > /dev/null"))
    spawned.start()
    behind = spawned.refreshctl("run", TODO, "--trigger", "interval").stdout
    assert "10\n" in behind and "best-effort: prio 7" in behind
    asked = spawned.refreshctl("run", TODO).stdout
    assert "0" in asked.split() and "10" not in asked.split() and "prio 7" not in asked


def test_an_app_in_the_foreground_does_not_give_way(refreshd, gate):
    refreshd.launch_by("systemd")
    refreshd.configure(app(WAIT, on_foreground="never"))
    refreshd.start()
    refreshd.refreshctl("foreground", TODO)
    behind = start(refreshd, "--trigger", "interval")
    assert weights(task_of(refreshd)) == UNSET
    gate.open()
    assert behind.wait(60) == 0
