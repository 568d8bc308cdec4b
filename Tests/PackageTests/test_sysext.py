"""The system extension of .build/sysext in a throwaway machine without /etc/refreshd: merged, used, and gone again.

`make test-package` runs this file; it needs the extension and a booted systemd, so `make test` leaves it out.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2] / ".build/sysext/refreshd"


def done(*words):
    result = subprocess.run(words, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"
    return result.stdout


@pytest.fixture
def merged():
    shutil.copytree(TREE, "/var/lib/extensions/refreshd", symlinks=True)
    done("systemd-sysext", "merge")
    done("systemd-sysusers")
    done("systemctl", "daemon-reload")
    yield
    subprocess.run(["systemctl", "stop", "refreshd.socket", "refreshd.service"], check=True)
    done("systemd-sysext", "unmerge")


def test_the_extension_starts_and_works_without_configuration(merged):
    assert not Path("/etc/refreshd").exists()
    for target in ("sockets.target", "multi-user.target"):
        assert "refreshd" in done("systemctl", "show", "-p", "Wants", target)
    done("systemctl", "start", "refreshd.socket", "refreshd.service")
    assert "All is well" in done("refreshctl", "status")
    apps = Path("/etc/refreshd/apps.d")
    apps.mkdir(parents=True)
    (apps / "org.example.merged.toml").write_text('id = "org.example.merged"\n[[task]]\nrun = ["true"]\n')
    done("refreshctl", "reload")
    done("refreshctl", "run", "org.example.merged")
    assert "new data" in done("refreshctl", "history", "org.example.merged")
