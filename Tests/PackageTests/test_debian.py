"""The Debian packages of .build/deb in a throwaway machine: installed, used, upgraded, removed, purged.

`make test-package` runs this file; it needs the packages and a booted systemd, so `make test` leaves it out.
"""

import json
import os
import sqlite3
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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


class Slow(BaseHTTPRequestHandler):
    """Sends the first half of a file, and the other when it may."""

    half = b"x" * (1 << 20)
    begun, may_end = threading.Event(), threading.Event()

    def do_GET(self):
        body = self.half * 2
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(self.half)
        self.begun.set()
        self.may_end.wait(100)
        self.wfile.write(self.half)

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/file"
    server.shutdown()
    server.server_close()


@pytest.mark.bound(240)
def test_an_upgrade_loses_no_refresh_no_transfer_and_no_push(before, server, tmp_path):
    """A refresh and a transfer that are under way, and a push that waits, end once each, with their own outcomes."""
    install(*before)
    gate, mark, target = tmp_path / "gate", tmp_path / "mark", Path("/srv/upgraded")
    target.mkdir()
    os.mkfifo(gate)
    Path("/etc/refreshd/apps.d", f"{APP}.toml").write_text(
        f'id = "{APP}"\ndeadline = "10min"\n[[task]]\n'
        f'shell = \'echo $REFRESH_TRIGGER >> {mark}; case $REFRESH_TRIGGER in interval) read line < {gate};; esac\'\n'
    )
    done("refreshctl", "reload")
    old = done("systemctl", "show", "--value", "-p", "MainPID", "refreshd.service")
    # Waits for the task, which refreshd starts because the app has never been refreshed.
    with open(gate, "w") as go:
        done("refreshctl", "download", APP, server, "--to", f"{target}/file", "--network", "none", "--session", "album")
        assert Slow.begun.wait(60)
        done("refreshctl", "push", APP, '{"aps":{"content-available":1}}')
        install(*DAEMON, *BRIDGE, *SESSION)
        assert done("systemctl", "show", "--value", "-p", "MainPID", "refreshd.service") != old
        with subprocess.Popen(["refreshctl", "watch", APP], stdout=subprocess.PIPE, text=True) as watch:
            print("go", file=go, flush=True)
            Slow.may_end.set()
            ends = [line for line, _ in zip((line for line in watch.stdout if "new data" in line), range(3))]
            watch.terminate()
    assert len(ends) == 3
    assert sorted(mark.read_text().split()) == ["interval", "push", "transfer"]
    assert (target / "file").stat().st_size == 2 * len(Slow.half)
    history = done("refreshctl", "history", APP)
    assert [history.count(word) for word in ("interval", "push", "transfer", "failed")] == [1, 1, 1, 0]
    assert "~before" not in done("dpkg-query", "--show", "refreshd")


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
