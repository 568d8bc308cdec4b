"""Conditions of an app's own under the real systemd: mounts, devices, and the sandbox of the service."""

import contextlib
import json
import os
import socket
import subprocess

import pytest

from service import TODO, app
from test_conditions_power import announce, udev  # noqa: F401 (fixture)

BACKUP = "/media/backup"
STICK = "usb:1d6b:0002"


def why(refreshd):
    return json.loads(refreshd.refreshctl("why", TODO, "--json").stdout)["why"]


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True, timeout=60)


def unmount(path):
    subprocess.run(["umount", path], check=True, timeout=60)


@pytest.fixture
def backup():
    """A folder for a mount, which is not mounted at the end."""
    os.makedirs(BACKUP, exist_ok=True)
    yield BACKUP
    with contextlib.suppress(subprocess.CalledProcessError):
        unmount(BACKUP)


@pytest.fixture
def devices(tmp_path):
    """Plugs devices into a stand-in for /sys/bus/usb/devices, and announces them as udevd does."""

    def plug(name, vendor, product):
        (tmp_path / name).mkdir()
        (tmp_path / name / "idVendor").write_text(f"{vendor}\n")
        (tmp_path / name / "idProduct").write_text(f"{product}\n")
        (tmp_path / f"{name}:1.0").mkdir()
        announce("usb")

    plug.directory = tmp_path
    return plug


def test_a_refresh_waits_for_a_mount_starts_at_its_edge_and_is_stopped_at_the_other(backup, refreshd, journal):
    """The kernel reports mounts in the service's own view of the file system."""
    refreshd.configure(app("echo at work; sleep 60", mounted=backup, background_interval="15min"))
    refreshd.start()
    journal.wait("daemonReady")
    explained = why(refreshd)
    assert [hold["name"] for hold in explained["holds"]] == ["mounted"]
    (term,) = explained["terms"]
    assert (term["has"], term["source"], term["is_met"]) == ("no file system there", "/proc/self/mountinfo", False)
    text = " ".join(refreshd.refreshctl("why", TODO).stdout.split())
    assert f"waits for a file system on {backup} (no file system there, /proc/self/mountinfo says so)" in text

    mount("-t", "tmpfs", "tmpfs", backup)
    journal.wait("taskOutput", REFRESH_APP=TODO)
    unmount(backup)
    journal.wait("refreshStopped", REFRESH_APP=TODO)
    lost = refreshd.history()[0]
    assert lost["stop_reason"] == "constraint_lost"
    assert lost["cause"]["text"] == f"stopped: needed a file system on {backup}, had no file system there"
    waited = [entry["wait"] for entry in why(refreshd)["past"] if entry.get("wait")]
    assert [wait["holds"] for wait in waited][-1] == ["mounted"]


def test_what_the_sandbox_of_the_service_mounts_is_no_mount(refreshd, journal):
    """StateDirectory= makes its folder a mount point in the view of the service; nothing is mounted there."""
    state = "/var/lib/refreshd"
    refreshd.configure(app("exit 0", mounted=state, background_interval="15min"))
    refreshd.start()
    journal.wait("daemonReady")
    table = f"/proc/{refreshd.main_pid}/mountinfo"
    with open(table) as lines:
        assert state in [line.split()[4] for line in lines]
    assert [hold["name"] for hold in why(refreshd)["holds"]] == ["mounted"]


def test_every_kind_of_mount_counts_and_an_automount_point_does_not(backup, probe):
    other = f"{backup} 2"
    os.makedirs(other, exist_ok=True)
    seen = probe("nothing", "--mounted", backup, "--mounted", other)
    seen.wait(f"mounted {backup}", value=False)
    mount("--bind", "/usr", backup)
    seen.wait(f"mounted {backup}", value=True)
    mount("-t", "tmpfs", "tmpfs", other)
    seen.wait(f"mounted {other}", value=True)
    unmount(backup)
    seen.wait(f"mounted {backup}", value=False)
    assert seen.state[f"mounted {other}"]["value"]
    unmount(other)
    seen.wait(f"mounted {other}", value=False)


def test_a_burst_of_mounts_wakes_the_daemon_seldom(backup, probe):
    seen = probe("nothing", "--mounted", backup)
    seen.wait_line(event="started")
    before = seen.wakes()
    for _ in range(50):
        mount("-t", "tmpfs", "tmpfs", "/mnt")
    for _ in range(50):
        unmount("/mnt")
    mount("-t", "tmpfs", "tmpfs", backup)
    seen.wait(f"mounted {backup}", value=True)
    assert seen.wakes() - before < 100
    assert seen.is_silent(0.3)


def test_a_device_is_present_while_it_is_plugged_in(udev, devices, probe):  # noqa: F811
    seen = probe("nothing", "--usb", devices.directory, "--present", STICK)
    seen.wait(f"present {STICK}", value=False, source=str(devices.directory))
    devices("1-2", "1d6b", "0003")
    devices("1-3", "1d6b", "0002")
    seen.wait(f"present {STICK}", value=True)
    for name in ("idVendor", "idProduct"):
        (devices.directory / "1-3" / name).unlink()
    announce("usb")
    seen.wait(f"present {STICK}", value=False)


def test_a_server_is_asked_by_a_confined_worker_of_the_owner(refreshd, journal):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"127.0.0.1:{listener.getsockname()[1]}"
        refreshd.configure(app("exit 0", owner="anna", reachable=address, background_interval="15min"))
        refreshd.start()
        journal.wait("refreshFinished", REFRESH_APP=TODO)


def test_a_command_is_asked_as_the_owner(refreshd, journal):
    refreshd.configure(app("exit 0", owner="anna", when=["/usr/bin/id", "-un"], background_interval="15min"))
    refreshd.start()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    assert [term["has"] for term in why(refreshd)["terms"]] == ["anna"]
