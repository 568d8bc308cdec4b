"""The wall clock may be set at any time, and the machine may reboot.

wall.c sets the wall clock of the daemon alone and leaves its boot clock; a time namespace (time_namespaces(7)) and
another boot id stand for a reboot.
"""

import os
import pathlib
import time
import uuid

import pytest

from daemon import TODO
from wall import DAY, SECOND

HOUR = 3600 * SECOND
# The tolerance for reading two clocks and for the round trip of a call on a busy machine.
ROUGHLY = 10 * SECOND
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may make a time namespace")


def remaining(daemon, wall):
    """The time until the app is due, computed by a client from the wall clock."""
    return daemon.show()["due_us"] - wall.now


STEPS = [+10, -10, +400, -400]


@pytest.mark.parametrize("days", STEPS)
def test_setting_the_wall_clock_moves_nothing(daemon, wall, days):
    """A refresh that was due in an hour is still due in an hour."""
    daemon.app("exit 100", background_interval="1h")
    daemon.start(environment=wall.environment)
    daemon.refresh()
    assert abs(remaining(daemon, wall) - HOUR) < ROUGHLY
    wall.set_off(days)
    assert abs(remaining(daemon, wall) - HOUR) < ROUGHLY
    assert abs(daemon.status()["next"]["due_us"] - wall.now - HOUR) < ROUGHLY
    wall.set_off(0)
    assert abs(remaining(daemon, wall) - HOUR) < ROUGHLY
    assert len(daemon.history()) <= 2


@pytest.mark.parametrize("days", STEPS)
def test_the_next_refresh_comes_when_it_would_have(daemon, wall, days):
    """The boot clock decides: not at once, and not in ten days."""
    events = daemon.pipe("events")
    daemon.app(f"echo run > {events}", background_interval="1s")
    daemon.start(environment=wall.environment)
    events.line()
    daemon.wait_for_output("finished")
    daemon.settle()
    wall.set_off(days)
    daemon.tell("launched")
    events.line()
    daemon.wait_for_output("finished", times=2)
    daemon.settle()
    later, earlier = daemon.history()[:2]
    assert 0.9 * SECOND <= later["started_us"] - earlier["started_us"] - days * DAY < ROUGHLY


@pytest.mark.parametrize("days", STEPS)
def test_a_clock_that_was_set_while_the_daemon_was_off_moves_nothing(daemon, wall, days):
    """Within one boot."""
    daemon.app("exit 100", background_interval="1h")
    daemon.start(environment=wall.environment)
    daemon.refresh()
    daemon.stop()
    wall.set_off(days)
    daemon.start(environment=wall.environment)
    assert abs(remaining(daemon, wall) - HOUR) < ROUGHLY
    assert daemon.show()["verdict"] == "not_due"


class Machine:
    """Boots of a machine, as the daemon sees them: the boot clock starts at zero, and the boot id changes."""

    SCRIPT = 'mount --bind "$0" /proc/sys/kernel/random/boot_id && exec "$@"'

    def __init__(self, daemon, wall):
        self.daemon, self.wall, self.boots = daemon, wall, 0

    def boot(self):
        """Starts the daemon in the first minutes of a new boot."""
        self.boots += 1
        id = self.daemon.directory / f"boot{self.boots}"
        id.write_text(f"{uuid.uuid4()}\n")
        uptime = int(float(pathlib.Path("/proc/uptime").read_text().split()[0]))
        clock = ["unshare", "--mount", "--time", "--fork", "--kill-child", f"--boottime={60 * self.boots - uptime}"]
        self.daemon.start(prefix=[*clock, "sh", "-c", self.SCRIPT, id], environment=self.wall.environment)


@pytest.fixture
def machine(daemon, wall):
    return Machine(daemon, wall)


@needs_root
def test_after_a_reboot_the_rest_of_the_interval_remains(daemon, wall, machine):
    daemon.app("exit 100", background_interval="2h")
    machine.boot()
    daemon.refresh()
    before = daemon.show()
    daemon.stop()
    machine.boot()
    after = daemon.show()
    assert abs(after["due_us"] - before["due_us"]) < ROUGHLY
    assert abs(after["fresh_us"] - before["fresh_us"]) < ROUGHLY
    assert after["verdict"] == "not_due"


@needs_root
def test_what_was_missed_while_the_machine_was_off_runs_after_the_reboot(daemon, wall, machine):
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_ID > {events}", background_interval="2h")
    machine.boot()
    assert events.line() == "1-1"
    daemon.wait_for_output("1-1 finished")
    daemon.settle()
    daemon.stop()
    wall.set_off(+1)
    machine.boot()
    assert events.line() == "2-1"
    daemon.wait_for_output("2-1 finished")
    daemon.settle()
    assert abs(remaining(daemon, wall) - 2 * HOUR) < ROUGHLY


@needs_root
def test_a_clock_that_was_set_back_meanwhile_holds_up_nothing_for_longer_than_an_interval(daemon, wall, machine):
    daemon.app("exit 100", background_interval="2h")
    machine.boot()
    daemon.refresh()
    daemon.stop()
    wall.set_off(-10)
    machine.boot()
    assert 2 * HOUR - 60 * SECOND < remaining(daemon, wall) < 2 * HOUR + ROUGHLY


@needs_root
def test_a_power_loss_in_the_middle_of_a_refresh(daemon, wall, machine):
    """The refresh has one outcome, and the app runs again after the boot. The logout of another app is kept."""
    events, go = daemon.pipe("events"), daemon.pipe("go")
    daemon.app(f"echo $REFRESH_ID > {events}; read _ < {go}")
    daemon.app("exit 100", id="org.example.mail")
    machine.boot()
    daemon.tell("logout", "org.example.mail")
    daemon.run()
    assert events.line() == "1-1"
    daemon.kill()
    machine.boot()
    assert events.line() == "2-1"
    go.let_go()
    daemon.wait_for_output("2-1 finished")
    daemon.settle()
    assert [(refresh["id"], refresh["outcome"]) for refresh in daemon.history(TODO)] == [
        ("2-1", "new_data"),
        ("1-1", "failed"),
    ]
    assert daemon.show("org.example.mail")["phase"] == "logged_out"
