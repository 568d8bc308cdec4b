"""The system extension of .build/sysext in a throwaway machine without /etc/refreshd: merged, used, and gone again.

`make test-package` runs this file; it needs the extension and a booted systemd, so `make test` leaves it out.
"""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

EXTENSION = Path(__file__).resolve().parents[2] / ".build/sysext"


def done(*words):
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"
    return result.stdout


def loop_devices():
    """Devices that the throwaway machine has not, and that show the image's file as a disk."""
    control = re.search(r"^ *(\d+) loop-control$", Path("/proc/misc").read_text(), re.MULTILINE)
    if not control:
        pytest.skip("the kernel has no loop devices")
    nodes = {"loop-control": (stat.S_IFCHR, 10, int(control[1]))}
    nodes |= {f"loop{number}": (stat.S_IFBLK, 7, number) for number in range(64)}
    for name, (kind, major, minor) in nodes.items():
        if not Path("/dev", name).exists():
            os.mknod(f"/dev/{name}", kind | 0o600, os.makedev(major, minor))


@pytest.fixture(params=["image", "folder"])
def merged(request):
    extensions = Path("/var/lib/extensions")
    extensions.mkdir(exist_ok=True)
    if request.param == "image":
        loop_devices()
        shutil.copy(EXTENSION / "refreshd.raw", extensions)
    else:
        shutil.copytree(EXTENSION / "refreshd", extensions / "refreshd", symlinks=True)
    done("systemd-sysext", "merge")
    done("systemd-sysusers")
    done("systemctl", "daemon-reload")
    yield
    subprocess.run(["systemctl", "stop", "refreshd.socket", "refreshd.service"], check=True)
    done("systemd-sysext", "unmerge")
    done("rm", "-r", *map(str, extensions.iterdir()), "/var/lib/refreshd")
    shutil.rmtree("/etc/refreshd", ignore_errors=True)


def test_the_extension_starts_and_works_without_configuration(merged):
    assert not Path("/etc/refreshd").exists()
    assert "refreshd.socket" in done("systemctl", "show", "-p", "Wants", "sockets.target")
    done("systemctl", "start", "multi-user.target")
    assert done("systemctl", "is-active", "refreshd.socket", "refreshd.service").split() == ["active", "active"]
    assert "All is well" in done("refreshctl", "status")
    apps = Path("/etc/refreshd/apps.d")
    apps.mkdir(parents=True)
    (apps / "org.example.merged.toml").write_text('id = "org.example.merged"\n[[task]]\nrun = ["true"]\n')
    done("refreshctl", "reload")
    done("refreshctl", "run", "org.example.merged")
    assert "new data" in done("refreshctl", "history", "org.example.merged")
