"""The RPM packages in a throwaway machine: their scriptlets with systemd's own macros, helper and triggers.

`make test-rpm` runs this file; it needs the release programs, their pages, what packaging/rpm/systemd makes, and a booted
systemd, so `make test` leaves it out.
"""

import os
import subprocess
from pathlib import Path

import pytest

from dpkg import APPS, ROOT, done, main_pid, may_start_services, state

SYSTEMD = ROOT / ".build/systemd-rpm"
UNITS = ["refreshd.socket", "refreshd.service"]
OF_USERS = [*UNITS, "refresh-push.service", "refresh-session.service"]
SETTINGS = Path("/etc/refreshd/refreshd.toml")


def rpm(*words):
    """Rpm knows nothing of Debian's packages, which have the libraries."""
    return done("rpm", "--root", "/", "--nodeps", "--nosignature", *map(str, words))


def built(folder, release):
    """The packages of a release."""
    values = {"_topdir": folder, "dist": f".{release}", "programs": ROOT / ".build/release", "pages": ROOT / ".build/pages",
              "_binary_payload": "w0.ufdio", "__check_buildroot": "%{nil}"}  # fmt: skip
    macros = [word for name, value in values.items() for word in ("--define", f"{name} {value}")]
    command = ["rpmbuild", "-bb", "--build-in-place", "--nodeps", "--load", SYSTEMD / "macros.systemd", *macros]
    made = subprocess.run([*command, ROOT / "packaging/rpm/refreshd.spec"], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return list((folder / "RPMS").rglob("*.rpm"))


def since(unit):
    """When a unit became active."""
    return done("systemctl", "show", "--value", "-p", "ActiveEnterTimestampMonotonic", unit)


@pytest.mark.bound(240)
def test_the_scriptlets_enable_restart_and_remove(tmp_path):
    may_start_services()
    before, after = built(tmp_path / "before", "1"), built(tmp_path / "after", "2")
    rpm("--install", *SYSTEMD.glob("noarch/*.rpm"))
    rpm("--install", *before)
    # Installed: users are made, and the presets say what is on. As on Fedora nothing is started.
    assert done("getent", "group", "refreshd") and done("getent", "passwd", "refresh-push")
    assert [state(unit, "is-enabled") for unit in UNITS] == ["enabled", "enabled"]
    assert state("refresh-push.service", "is-enabled") == "disabled"
    for unit in OF_USERS:
        assert subprocess.run(["systemctl", "--global", "--quiet", "is-enabled", unit]).returncode == 1, unit
    assert "refresh" in done("journalctl", "--list-catalog")
    done("systemctl", "start", *UNITS)
    SETTINGS.write_text(SETTINGS.read_text() + "# of the administrator\n")
    done("refreshctl", "new", "org.example.todo", "--run", "true", "--every", "1h")
    done("refreshctl", "run", "org.example.todo")
    # After the upgrade the daemon is a new process, with the same socket and the same state.
    old, listening = main_pid("refreshd.service"), since("refreshd.socket")
    rpm("--upgrade", *after)
    assert main_pid("refreshd.service") not in (old, "0\n") and since("refreshd.socket") == listening
    assert "new data" in done("refreshctl", "history", "org.example.todo")
    assert SETTINGS.read_text().endswith("# of the administrator\n")
    # Removed: what an administrator wrote and the state stay.
    rpm("--erase", "refresh-session", "refresh-push", "refreshd")
    assert [state(unit) for unit in UNITS] == ["inactive", "inactive"]
    assert not list(Path("/etc/systemd").rglob("refresh*"))
    assert not [name for name in os.listdir("/usr/bin") if name.startswith("refresh")]
    assert (APPS / "org.example.todo.toml").exists() and Path("/var/lib/refreshd/refreshd.sqlite").exists()
