"""Conditions without a bus: pressure, the time zone, and a machine without a bus."""

import multiprocessing
import os
import pathlib
import time

import pytest

LOCALTIME = pathlib.Path("/etc/localtime")


@pytest.fixture
def pressed(tmp_path):
    """A cgroup with a pressure of its own, independent of the rest of the machine; returns the probe of it."""
    cgroup = pathlib.Path("/sys/fs/cgroup/pressed")
    cgroup.mkdir()
    for resource in ("cpu", "memory", "io"):
        (tmp_path / resource).symlink_to(cgroup / f"{resource}.pressure")
    yield tmp_path, cgroup
    # A process that has ended leaves its cgroup a moment after wait(2) returns.
    end = time.monotonic() + 10
    while cgroup.exists():
        try:
            cgroup.rmdir()
        except OSError:
            assert time.monotonic() < end


def spin(cgroup, processor, until):
    (cgroup / "cgroup.procs").write_text(str(os.getpid()))
    os.sched_setaffinity(0, {processor})
    while time.monotonic() < until:
        pass


def test_pressure_is_told_when_it_comes_and_when_it_is_over(pressed, probe):
    directory, cgroup = pressed
    seen = probe("pressure", "--pressure", directory)
    seen.wait("pressure", source="PSI", value=False, problem="")
    # Longer than the time without a pressure event after which pressure counts as over.
    until = time.monotonic() + 8
    # They wait for one another on one processor, and leave the others to other tests.
    arguments = [cgroup, min(os.sched_getaffinity(0)), until]
    workers = [multiprocessing.Process(target=spin, args=arguments) for _ in range(4)]
    for worker in workers:
        worker.start()
    seen.wait("pressure", value=True)
    assert seen.is_silent(until - time.monotonic())
    for worker in workers:
        worker.join()
    seen.wait("pressure", value=False)


def test_a_kernel_that_does_not_tell_of_pressure_is_named(probe, tmp_path):
    seen = probe("pressure", "--pressure", tmp_path)
    seen.wait("pressure", value=None, problem=f"cannot watch {tmp_path}/cpu: No such file or directory")


@pytest.fixture
def local_time():
    """Sets the time zone of the machine."""
    before = LOCALTIME.readlink() if LOCALTIME.is_symlink() else None

    def set(zone):
        link = pathlib.Path("/etc/localtime.new")
        link.unlink(missing_ok=True)
        link.symlink_to(zone)
        link.rename(LOCALTIME)

    yield set
    LOCALTIME.unlink(missing_ok=True)
    if before:
        LOCALTIME.symlink_to(before)


def test_a_new_time_zone_is_taken_up(local_time, probe):
    zones = "/usr/share/zoneinfo"
    local_time(f"{zones}/Europe/Berlin")
    seen = probe("nothing")
    assert sorted({offset for _, offset in seen.next()["changes"]}) == [3600, 7200]
    local_time(f"{zones}/Asia/Tokyo")
    seen.wait_line(event="zone", offset=9 * 3600, changes=[])
    LOCALTIME.unlink()
    seen.wait_line(event="zone", offset=0, changes=[])
    local_time(f"{zones}/Asia/Kolkata")
    seen.wait_line(event="zone", offset=19800, changes=[])


def test_a_time_zone_in_the_environment_has_the_word(local_time, probe):
    local_time("/usr/share/zoneinfo/Asia/Tokyo")
    zone = probe("nothing", env={"TZ": "America/New_York"}).next()
    assert sorted({offset for _, offset in zone["changes"]}) == [-18000, -14400]


def test_without_a_bus_everything_has_its_fallback_at_once(probe):
    seen = probe("network", "power", "powerSaver", "idle", env={"DBUS_SYSTEM_BUS_ADDRESS": "unix:path=/run/no/bus"})
    seen.wait("network", source="rtnetlink", problem="there is no system bus; rtnetlink instead")
    seen.wait("power", source="/sys/class/power_supply", problem="there is no system bus")
    seen.wait("powerSaver", source="", value=None, problem="there is no system bus")
    seen.wait("idle", source="", value=None, problem="there is no system bus")
    seen.wait("started")
    assert seen.is_silent(0.5)
    before = seen.wakes()
    assert seen.is_silent(3)
    assert seen.wakes() == before


def test_at_rest_nothing_wakes_the_daemon(network_manager, probe):
    seen = probe("network", "power", "powerSaver", "idle", "sessions")
    for fact in ("network", "power", "powerSaver", "idle"):
        seen.wait(fact)
    assert seen.is_silent(2.5)
    before = seen.wakes()
    assert seen.is_silent(5)
    assert seen.wakes() == before
    assert len(list(pathlib.Path(f"/proc/{seen.process.pid}/task").iterdir())) == 1
