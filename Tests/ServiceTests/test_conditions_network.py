"""The network as the daemon sees it: NetworkManager, else systemd-networkd, else the kernel's routes."""

import subprocess

import pytest

MANAGER = "/org/freedesktop/NetworkManager"
NOT_CHECKED = "connectivity is not checked"


def ip(*words):
    subprocess.run(["ip", *words], check=True, timeout=60)


@pytest.fixture
def uplink():
    """A cable with a default route, which leads nowhere."""
    ip("link", "add", "uplink0", "type", "veth", "peer", "name", "far0")
    ip("address", "add", "203.0.113.2/24", "dev", "uplink0")
    for name in ("far0", "uplink0"):
        ip("link", "set", name, "up")
    ip("route", "add", "default", "via", "203.0.113.1")
    yield "uplink0"
    subprocess.run(["ip", "link", "delete", "uplink0"], capture_output=True, timeout=60)


def test_the_five_answers_of_metered(network_manager, probe):
    seen = probe("network")
    seen.wait("network", source="NetworkManager", metered="no", reach="full", interface="wlan0", problem="")
    for number, name in enumerate(("unknown", "yes", "no", "guess-yes", "guess-no")):
        network_manager.set(Metered=("u", number))
        seen.wait("network", source="NetworkManager", metered=name)


def test_connectivity_tells_a_portal_from_the_internet(network_manager, probe):
    seen = probe("network")
    for state, connectivity, reach in (
        (60, 2, "portal"), (60, 3, "limited"), (70, 4, "full"), (20, 1, "offline"), (70, 4, "full"), (40, 1, "offline"),
    ):
        network_manager.set(State=("u", state), Connectivity=("u", connectivity))
        seen.wait("network", source="NetworkManager", reach=reach)


def test_the_name_of_the_wifi_follows_the_access_point(network_manager, probe):
    seen = probe("network")
    seen.wait("network", medium="wifi", ssid="Café")
    active = "org.freedesktop.NetworkManager.Connection.Active"
    network_manager.set(f"{MANAGER}/ActiveConnection/1", active, SpecificObject=("s", f"{MANAGER}/AccessPoint/2"))
    seen.wait("network", medium="wifi", ssid="Office")
    network_manager.set(PrimaryConnectionType=("s", "802-3-ethernet"))
    seen.wait("network", medium="wired", ssid=None, interface="wlan0")


def test_an_access_point_that_tells_its_strength_wakes_nobody(network_manager, probe):
    seen = probe("network")
    seen.wait("network", ssid="Café")
    assert seen.is_silent(0.5)
    before = seen.wakes()
    for strength in range(10):
        network_manager.set(
            f"{MANAGER}/AccessPoint/1", "org.freedesktop.NetworkManager.AccessPoint", Strength=("y", strength))
    assert seen.wakes() == before


def test_without_networkmanager_the_kernel_has_the_word_and_says_so(uplink, network_manager, probe):
    seen = probe("network")
    seen.wait("network", source="NetworkManager")
    network_manager.stop()
    line = seen.wait("network", source="rtnetlink", reach="full", medium="wired", interface=uplink, metered="unknown")
    assert line["problem"] == f"NetworkManager left the bus; rtnetlink instead; {NOT_CHECKED}"
    assert seen.sources() == {
        ("network", "NetworkManager"): "NetworkManager left the bus",
        ("network", "systemd-networkd"): "not there",
        ("network", "rtnetlink"): NOT_CHECKED,
    }
    network_manager.start()
    assert "problem" not in seen.wait("network", source="NetworkManager", reach="full", interface="wlan0")


def test_a_late_answer_is_not_waited_for_and_taken_all_the_same(uplink, network_manager, probe):
    network_manager.freeze()
    seen = probe("network")
    seen.wait("network", source="rtnetlink", problem="NetworkManager does not answer")
    assert seen.is_silent(0.5)
    network_manager.thaw()
    seen.wait("network", source="NetworkManager", reach="full", ssid="Café")


def test_a_network_that_is_not_networkmanagers_counts(uplink, network_manager, probe):
    network_manager.set(State=("u", 20), Connectivity=("u", 1), PrimaryConnection=("s", "/"))
    seen = probe("network")
    seen.wait("network", source="rtnetlink", reach="full", problem=f"NetworkManager does not manage {uplink}")
    ip("link", "set", uplink, "down")
    seen.wait("network", source="NetworkManager", reach="offline")


def test_the_bus_may_be_restarted(uplink, network_manager, probe):
    seen = probe("network")
    seen.wait("network", source="NetworkManager")
    subprocess.run(["systemctl", "restart", "dbus.service"], check=True, timeout=60)
    seen.wait("network", source="rtnetlink", problem="the system bus is gone; rtnetlink instead")
    network_manager.stop()
    network_manager.start()
    seen.wait("network", source="NetworkManager", seconds=20, ssid="Café")
    network_manager.set(Metered=("u", 1))
    seen.wait("network", metered="yes")


def test_the_kernels_routes_come_and_go(probe):
    seen = probe("network")
    seen.wait("network", source="rtnetlink", reach="offline")
    ip("link", "add", "uplink0", "type", "veth", "peer", "name", "far0")
    try:
        for name in ("far0", "uplink0"):
            ip("link", "set", name, "up")
        ip("address", "add", "203.0.113.2/24", "dev", "uplink0")
        assert seen.is_silent(0.3)
        ip("route", "add", "default", "via", "203.0.113.1")
        seen.wait("network", reach="full", interface="uplink0", problem=NOT_CHECKED)
        # The carrier is gone, the route is still there.
        ip("link", "set", "far0", "down")
        seen.wait("network", reach="offline")
        ip("link", "set", "far0", "up")
        seen.wait("network", reach="full")
        ip("route", "delete", "default")
        seen.wait("network", reach="offline")
        ip("-6", "route", "add", "default", "via", "fe80::1", "dev", "uplink0")
        seen.wait("network", reach="full", interface="uplink0")
    finally:
        ip("link", "delete", "uplink0")
    seen.wait("network", reach="offline")


def test_systemd_networkd_is_the_second_source(uplink, probe):
    seen = probe("network")
    seen.wait("network", source="rtnetlink")
    subprocess.run(["systemctl", "start", "systemd-networkd.service"], check=True, timeout=60)
    try:
        seen.wait("network", source="systemd-networkd", reach="full", interface=uplink, problem=NOT_CHECKED)
        ip("route", "delete", "default")
        seen.wait("network", source="systemd-networkd", reach="limited")
        ip("link", "set", uplink, "down")
        seen.wait("network", source="systemd-networkd", reach="offline")
    finally:
        subprocess.run(["systemctl", "stop", "systemd-networkd.service"], check=True, timeout=60)
    seen.wait("network", source="rtnetlink", problem="systemd-networkd left the bus; rtnetlink instead")


def test_what_nobody_needs_any_more_is_not_watched(network_manager, probe):
    seen = probe("network")
    seen.wait("network", source="NetworkManager")
    seen.reload_without_needs()
    seen.wait("network", source="", value=None)
    assert seen.is_silent(0.3)
    before = seen.wakes()
    network_manager.set(Metered=("u", 1))
    network_manager.stop()
    assert seen.wakes() == before
