"""The power supply and the power profile as the daemon sees them: UPower, else the kernel; power-profiles-daemon."""

import pathlib
import socket
import struct

import pytest


@pytest.fixture
def supplies(tmp_path):
    """Creates the files of a power supply in a stand-in for /sys."""

    def write(name, **attributes):
        (tmp_path / name).mkdir(exist_ok=True)
        for attribute, value in attributes.items():
            (tmp_path / name / attribute).write_text(f"{value}\n")

    write.directory = tmp_path
    return write


@pytest.fixture
def udev():
    """The sign by which libsystemd recognizes a running udevd, which does not run where /sys is read-only."""
    control = pathlib.Path("/run/udev/control")
    control.parent.mkdir(exist_ok=True)
    control.touch()
    yield
    control.unlink()


def hash_of(text):
    """MurmurHash2 with seed 0: udev hashes subsystem names so, for the kernel's filter."""
    data, wrap, factor = text.encode(), 0xFFFFFFFF, 0x5BD1E995
    result = len(data)
    while len(data) >= 4:
        part = int.from_bytes(data[:4], "little") * factor & wrap
        part = (part ^ part >> 24) * factor & wrap
        result, data = (result * factor & wrap) ^ part, data[4:]
    if data:
        result = (result ^ int.from_bytes(data, "little")) * factor & wrap
    result = (result ^ result >> 13) * factor & wrap
    return result ^ result >> 15


def announce(subsystem):
    """Broadcasts a change of a device, as udevd does."""
    fields = {"ACTION": "change", "DEVPATH": "/devices/virtual/test/probe", "SUBSYSTEM": subsystem, "SEQNUM": "1"}
    body = b"".join(f"{name}={value}\0".encode() for name, value in fields.items())
    head = struct.pack("=8sIIII", b"libudev\0", socket.htonl(0xFEEDCAFE), 40, 40, len(body))
    head += struct.pack("=IIII", socket.htonl(hash_of(subsystem)), 0, 0, 0)
    kobject_uevent, group_of_udev = 15, 2
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, kobject_uevent) as sender:
        sender.sendto(head + body, (0, group_of_udev))


def test_upower_tells_of_the_battery_and_its_charge(upower, probe):
    seen = probe("power")
    seen.wait("power", source="UPower", onBattery=False, percent=None)
    device = f"{upower.path}/devices/DisplayDevice"
    upower.set(device, "org.freedesktop.UPower.Device", IsPresent=("b", "true"), Percentage=("d", 63.9))
    seen.wait("power", onBattery=False, percent=63)
    upower.set(OnBattery=("b", "true"))
    seen.wait("power", onBattery=True, percent=63)
    assert seen.is_silent(0.3)
    # A change of less than a percent is ignored.
    upower.set(device, "org.freedesktop.UPower.Device", Percentage=("d", 63.2))
    assert seen.is_silent(0.3)


def test_without_upower_the_kernel_has_the_word_and_says_so(upower, supplies, probe):
    supplies("AC", type="Mains", online=0)
    supplies("BAT0", type="Battery", status="Discharging", capacity=41, present=1)
    seen = probe("power", "--power", supplies.directory)
    seen.wait("power", source="UPower", onBattery=False)
    upower.stop()
    seen.wait(
        "power", source=str(supplies.directory), onBattery=True, percent=41,
        problem=f"UPower left the bus; {supplies.directory} instead",
    )
    upower.start()
    assert "problem" not in seen.wait("power", source="UPower", onBattery=False)


def test_a_late_upower_is_not_waited_for_and_taken_all_the_same(upower, supplies, probe):
    supplies("AC", type="Mains", online=1)
    supplies("BAT0", type="Battery", status="Charging", capacity=80)
    upower.set(OnBattery=("b", "true"))
    upower.freeze()
    seen = probe("power", "--power", supplies.directory)
    seen.wait("power", onBattery=False, percent=80, problem="UPower does not answer")
    upower.thaw()
    seen.wait("power", source="UPower", onBattery=True)


def test_the_kernel_tells_when_a_supply_has_changed(udev, supplies, probe):
    supplies("BAT0", type="Battery", status="Charging", capacity=80)
    seen = probe("power", "--power", supplies.directory)
    seen.wait("power", onBattery=False, percent=80)
    assert seen.is_silent(0.5)
    before = seen.wakes()
    announce("usb")
    supplies("BAT0", status="Discharging", capacity=79)
    assert seen.wakes() == before
    announce("power_supply")
    seen.wait("power", onBattery=True, percent=79)


def test_a_machine_without_a_battery_lives_on_mains_and_says_so(probe):
    seen = probe("power")
    seen.wait("power", onBattery=False, percent=None, problem="no battery")


@pytest.mark.parametrize(
    "service",
    [
        ("powerprofiles", "org.freedesktop.UPower.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles"),
        ("power_profiles_daemon", "net.hadess.PowerProfiles", "/net/hadess/PowerProfiles"),
    ],
    ids=["new name", "old name"],
)
def test_the_power_saver_profile(service, mock, probe):
    profiles = mock(*service)
    seen = probe("powerSaver")
    seen.wait("powerSaver", source="power-profiles-daemon", value=False)
    profiles.set(ActiveProfile=("s", "power-saver"))
    seen.wait("powerSaver", value=True)
    profiles.set(ActiveProfile=("s", "performance"))
    seen.wait("powerSaver", value=False)
    profiles.stop()
    seen.wait("powerSaver", value=None, problem="power-profiles-daemon left the bus")


def test_nobody_knows_of_a_profile_without_its_daemon(probe):
    probe("powerSaver").wait("powerSaver", value=None, problem="power-profiles-daemon: not on this machine")
