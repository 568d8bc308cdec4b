"""The memory bounds of the shipped units are in force, and leave room above what Tests/Chaos lets the programs have."""

import pathlib
import re
import subprocess

import pytest

CHAOS = pathlib.Path(__file__).resolve().parents[1] / "Chaos"
MEGABYTES = int(re.search(r"^MEGABYTES = (\d+)$", (CHAOS / "stand.py").read_text(), re.MULTILINE)[1])
"""The most that the daemon, and the bridge, may have while somebody does his worst."""
UNITS = {"refreshd.service": 512, "refresh-push.service": 128}


@pytest.mark.parametrize("scope", ["system", "user"])
def test_the_bounds_of_the_units_are_in_force(installed, scope):
    manager = []
    if scope == "user":
        subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
        manager = ["--user", "--machine=anna@"]
        subprocess.run(["systemctl", *manager, "daemon-reload"], check=True, timeout=60)
    try:
        for unit, most in UNITS.items():
            command = ["systemctl", *manager, "show", "--value", "--property=MemoryMax", unit]
            answer = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
            assert int(answer) == most << 20, unit
            assert 2 * MEGABYTES <= most, f"{unit} may be killed before Tests/Chaos finds it too large"
    finally:
        if manager:
            subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
