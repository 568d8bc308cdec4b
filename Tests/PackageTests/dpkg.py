"""The Debian packages of .build/deb, and what dpkg and systemctl do with them."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted((ROOT / ".build/deb").glob("refresh*[!m]_*_*.deb"))
DAEMON = [path for path in PACKAGES if path.name.startswith("refreshd_")]
BRIDGE = [path for path in PACKAGES if path.name.startswith("refresh-push_")]
SESSION = [path for path in PACKAGES if path.name.startswith("refresh-session_")]
APPS = Path("/etc/refreshd/apps.d")
ENVIRONMENT = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, timeout=120, **options)


def done(*words):
    result = run(*words)
    assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"
    return result.stdout


def state(unit, of="is-active"):
    return run("systemctl", of, unit).stdout.strip()


def main_pid(unit):
    return done("systemctl", "show", "--value", "-p", "MainPID", unit)


def may_start_services():
    """Images for containers forbid packages to start services."""
    Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)


def install(*packages):
    """With dpkg, because no archive is reached; what the packages depend on is on the machine."""
    done("dpkg", "--install", *map(str, packages))


def purge():
    """Removes the packages, and what an administrator wrote."""
    for file in [*APPS.glob("*"), *APPS.parent.glob("push.toml")]:
        file.unlink()
    run("dpkg", "--purge", "refresh-session", "refresh-push", "refreshd")


def with_lower_version(packages, folder):
    """The packages with a lower version, because no release was before: dpkg and systemd do what they do in an upgrade."""
    lower = []
    for package in packages:
        tree, result = folder / package.stem, folder / f"{package.stem}-before.deb"
        done("dpkg-deb", "--raw-extract", package, tree)
        control = tree / "DEBIAN/control"
        text = control.read_text()
        version = next(line for line in text.splitlines() if line.startswith("Version: ")).removeprefix("Version: ")
        control.write_text(text.replace(version, f"{version}~before"))
        done("dpkg-deb", "-Znone", "--build", tree, result)
        lower.append(result)
    return lower
