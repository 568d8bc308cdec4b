"""A user without any right speaks on the system bus for logind, systemd and the others; nobody believes it.

A match rule does not help: the bus delivers a signal to one connection without a look at the rules.
"""

import subprocess

import pytest

from gate import Gate
from mock import busctl
from service import TODO, app

BUS = ("/org/freedesktop/DBus", "org.freedesktop.DBus")
LOGIND = ("/org/freedesktop/login1", "org.freedesktop.login1.Manager")
SYSTEMD = "/org/freedesktop/systemd1"
UPOWER = "org.freedesktop.UPower"


def changed(path, interface, name, kind, value):
    """The words of a change of a property, for `busctl emit`."""
    return (path, "org.freedesktop.DBus.Properties", "PropertiesChanged", "sa{sv}as", interface, "1", name, kind, value, "0")


def gone(name):
    """The words with which the bus says that a service is gone."""
    return (*BUS, "NameOwnerChanged", "sss", name, ":1.1", "")


# Each of these would change a condition, if it were believed.
NETWORK = {
    "NetworkManager": [
        gone("org.freedesktop.NetworkManager"),
        changed("/org/freedesktop/NetworkManager", "org.freedesktop.NetworkManager", "State", "u", "20"),
        changed(
            "/org/freedesktop/NetworkManager/ActiveConnection/1", "org.freedesktop.NetworkManager.Connection.Active",
            "SpecificObject", "o", "/org/freedesktop/NetworkManager/AccessPoint/2",
        ),
    ],
    "systemd-networkd": [
        gone("org.freedesktop.network1"),
        changed("/org/freedesktop/network1", "org.freedesktop.network1.Manager", "OperationalState", "s", "routable"),
    ],
}  # fmt: skip
OTHERS = [
    (*LOGIND, "PrepareForSleep", "b", "true"),
    (*LOGIND, "PrepareForShutdown", "b", "true"),
    changed("/org/freedesktop/login1", LOGIND[1], "IdleHint", "b", "false"),
    gone("org.freedesktop.login1"),
    changed("/org/freedesktop/UPower", UPOWER, "OnBattery", "b", "true"),
    changed("/org/freedesktop/UPower/devices/DisplayDevice", f"{UPOWER}.Device", "Percentage", "d", "1"),
    gone(UPOWER),
    changed("/org/freedesktop/UPower/PowerProfiles", f"{UPOWER}.PowerProfiles", "ActiveProfile", "s", "power-saver"),
    gone(f"{UPOWER}.PowerProfiles"),
    # sd-bus makes this one itself when a connection has ended.
    ("/org/freedesktop/DBus/Local", "org.freedesktop.DBus.Local", "Disconnected"),
]


def forge(pid, signals):
    """Has `nobody` send each of these signals to every connection of a process."""
    lines = [line.split() for line in busctl("list", "--unique", "--no-legend").splitlines()]
    connections = [name for name, owner, *_ in lines if owner == str(pid)]
    assert connections
    for name in connections:
        for signal in signals:
            words = ["busctl", "--system", f"--destination={name}", "emit", *signal]
            # The bus refuses to deliver some of them.
            subprocess.run(["runuser", "-u", "nobody", "--", *words], capture_output=True, timeout=60)


@pytest.fixture
def networkd():
    subprocess.run(["systemctl", "start", "systemd-networkd.service"], check=True, timeout=60)
    yield
    # Its socket would start it again.
    command = ["systemctl", "stop", "systemd-networkd.socket", "systemd-networkd.service"]
    subprocess.run(command, check=True, timeout=60)


@pytest.mark.parametrize("source", NETWORK)
def test_no_condition_of_the_machine_changes(source, request, mock, upower, probe):
    profiles = mock("powerprofiles", f"{UPOWER}.PowerProfiles", "/org/freedesktop/UPower/PowerProfiles")
    request.getfixturevalue("network_manager" if source == "NetworkManager" else "networkd")
    seen = probe("network", "power", "powerSaver", "idle")
    seen.wait("started")
    seen.wait("network", source=source)
    seen.wait("power", source="UPower")
    seen.wait("powerSaver", value=False)
    seen.wait("idle", value=True)
    forge(seen.process.pid, OTHERS + NETWORK[source])
    profiles.set(ActiveProfile=("s", "power-saver"))
    line = seen.next()
    assert (line["event"], line.get("value")) == ("powerSaver", True), f"a forged signal had an effect: {line}"


def test_a_running_task_is_neither_stopped_nor_taken_for_ended(refreshd, journal):
    gate = Gate("/run/gate")
    refreshd.configure(app("echo at work; read _ < /run/gate; exit 0"))
    refreshd.start()
    refreshd.run_in_background()
    [unit] = subprocess.run(
        ["systemctl", "list-units", "--plain", "--no-legend", "refreshd-task-*"], check=True, capture_output=True, text=True
    ).stdout.split()[:1]  # fmt: skip
    path = f"{SYSTEMD}/unit/" + "".join(c if c.isalnum() else f"_{ord(c):02x}" for c in unit)
    forge(refreshd.main_pid, [
        (*LOGIND, "PrepareForSleep", "b", "true"),
        gone("org.freedesktop.systemd1"),
        changed(path, "org.freedesktop.systemd1.Service", "Result", "s", "oom-kill"),
        changed(path, "org.freedesktop.systemd1.Unit", "ActiveState", "s", "failed"),
    ])  # fmt: skip
    assert [each["outcome"] for each in refreshd.history()] == []
    gate.open()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    [refresh] = refreshd.history()
    assert (refresh["outcome"], refresh.get("stop_reason")) == ("new_data", None)
    gate.close()
