"""The Debian packages of .build/deb in a throwaway machine: installed, used, upgraded, removed, purged.

`make test-package` runs this file; it needs the packages and a booted systemd, so `make test` leaves it out.
"""

import json
import os
import sqlite3
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = sorted((ROOT / ".build/deb").glob("refresh*[!m]_*_*.deb"))
DAEMON = [path for path in PACKAGES if path.name.startswith("refreshd_")]
BRIDGE = [path for path in PACKAGES if path.name.startswith("refresh-push_")]
SESSION = [path for path in PACKAGES if path.name.startswith("refresh-session_")]
APP = "org.example.slow"


def run(*words, **options):
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=120, **options)


def done(*words):
    result = run(*words)
    assert result.returncode == 0, f"{words}: {result.stdout}{result.stderr}"
    return result.stdout


def install(*packages):
    """With dpkg, because no archive is reached; what the packages depend on is on the machine."""
    done("dpkg", "--install", *map(str, packages))


@pytest.fixture
def packages():
    # Images for containers forbid packages to start services.
    Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
    install(*DAEMON, *BRIDGE, *SESSION)
    yield
    purge()


def purge():
    for file in Path("/etc/refreshd/apps.d").glob("*"):
        file.unlink()
    run("dpkg", "--purge", "refresh-session", "refresh-push", "refreshd")


@pytest.fixture
def before(tmp_path):
    """The packages with a lower version, because no release was before: dpkg and systemd do what they do in an upgrade."""
    Path("/usr/sbin/policy-rc.d").unlink(missing_ok=True)
    tmp_path.chmod(0o755)
    lower = []
    for package in (*DAEMON, *BRIDGE, *SESSION):
        tree, result = tmp_path / package.stem, tmp_path / f"{package.stem}-before.deb"
        done("dpkg-deb", "--raw-extract", package, tree)
        control = tree / "DEBIAN/control"
        text = control.read_text()
        version = next(line for line in text.splitlines() if line.startswith("Version: ")).removeprefix("Version: ")
        control.write_text(text.replace(version, f"{version}~before"))
        done("dpkg-deb", "-Znone", "--build", tree, result)
        lower.append(result)
    yield lower
    purge()


def state(unit, of="is-active"):
    return run("systemctl", of, unit).stdout.strip()


def test_a_new_installation_runs_the_daemon_and_leaves_the_bridge_off(packages):
    assert [state(unit) for unit in ("refreshd.socket", "refreshd.service")] == ["active", "active"]
    assert state("refreshd.service", "is-enabled") == "enabled"
    assert (state("refresh-push.service"), state("refresh-push.service", "is-enabled")) == ("inactive", "disabled")
    for unit in ("refreshd.socket", "refresh-session.service"):
        assert run("systemctl", "--global", "is-enabled", unit).stdout.strip() == "disabled"
    assert "All is well" in done("refreshctl", "status")
    assert done("getent", "group", "refreshd") and done("getent", "passwd", "refresh-push")


def test_gnome_shell_finds_an_extension_for_each_of_its_versions(packages):
    of = {}
    for file in Path("/usr/share/gnome-shell/extensions").glob("*@refreshd/metadata.json"):
        described = json.loads(file.read_text())
        assert described["uuid"] == file.parent.name and (file.parent / "extension.js").exists()
        of |= {version: described["uuid"] for version in described["shell-version"]}
    assert (of["43"], of["48"]) == ("windows-43@refreshd", "windows@refreshd")


def test_the_pages_and_completions_are_found(packages):
    for page in ("refreshd", "refresh-session", "refreshd.toml", "refreshd-app", "push.toml", "refreshctl", "refreshctl-why"):
        assert done("man", "--path", "--where", page)
    assert Path("/usr/share/bash-completion/completions/refreshctl").exists()


def test_the_smoke_test_of_the_package_passes(packages):
    done("sh", str(ROOT / "debian/tests/smoke"))


@pytest.mark.bound(120)
def test_an_upgrade_loses_no_refresh(packages, tmp_path):
    """A refresh that runs during the upgrade ends once, with its own outcome."""
    gate, mark = tmp_path / "gate", tmp_path / "mark"
    os.mkfifo(gate)
    tmp_path.chmod(0o755)
    Path("/etc/refreshd/apps.d", f"{APP}.toml").write_text(
        f'id = "{APP}"\ndeadline = "10min"\n[[task]]\nshell = "echo started >> {mark}; read line < {gate}; echo ended >> {mark}"\n'
    )
    done("refreshctl", "reload")
    before = done("systemctl", "show", "--value", "-p", "MainPID", "refreshd.service")
    # Waits for the task, which refreshd starts because the app has never been refreshed.
    with open(gate, "w") as go:
        install(*DAEMON)
        assert done("systemctl", "show", "--value", "-p", "MainPID", "refreshd.service") != before
        with subprocess.Popen(["refreshctl", "watch", APP], stdout=subprocess.PIPE, text=True) as watch:
            print("go", file=go, flush=True)
            ended = next(line for line in watch.stdout if "new data" in line)
            watch.terminate()
    assert APP in ended
    assert done("refreshctl", "history", APP).count("new data") == 1
    assert mark.read_text().split() == ["started", "ended"]


@pytest.mark.bound(240)
@pytest.mark.parametrize("schema", [1, 8])
def test_an_upgrade_takes_over_the_state_of_an_older_release(before, schema, tmp_path):
    """The daemon of the lower version must not touch the state, so it is stopped first."""
    install(*before)
    done("systemctl", "stop", "refreshd.socket", "refreshd.service")
    folder = Path("/var/lib/refreshd")
    for file in folder.iterdir():
        file.unlink()
    with sqlite3.connect(folder / "refreshd.sqlite") as store:
        store.executescript((ROOT / f"Tests/RefreshStoreTests/Fixtures/schema-{schema}.sql").read_text())
        ids = [id for (id,) in store.execute("SELECT id FROM app")]
    store.close()
    for id in ids:
        Path("/etc/refreshd/apps.d", f"{id}.toml").write_text(f'id = "{id}"\n[[task]]\nrun = ["true"]\n')
    install(*DAEMON, *BRIDGE, *SESSION)
    assert state("refreshd.service") == "active"
    assert "All is well" in done("refreshctl", "status")
    assert "1750000001123456" in done("refreshctl", "history", "org.example.todo", "--json")


def test_purging_leaves_nothing(packages):
    done("dpkg", "--purge", "refresh-session", "refresh-push", "refreshd")
    for path in ("/etc/refreshd", "/var/lib/refreshd", "/var/lib/refresh-push", "/usr/libexec/refreshd"):
        assert not Path(path).exists(), path
    assert state("refreshd.socket") != "active"
