"""An upgrade of the Debian packages while a refresh, a transfer and pushes are under way: each has one outcome.

`make test-package` runs this file; it needs the packages and a booted systemd, so `make test` leaves it out.
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from dpkg import APPS, BRIDGE, DAEMON, ENVIRONMENT, SESSION, done, install, main_pid, run
from gate import Gate
from journal import Journal
from servers.body import Body
from servers.misbehaving import Misbehaving
from servers.ntfy import Ntfy

SLOW, FILES, PUSHED = "org.example.slow", "org.example.files", "org.example.pushed"
TOPIC = "upPushed0123456"
SIZE = 4_000_000
THERE = 3_000_000
UNITS = ("refreshd.service", "refresh-push.service")


@pytest.fixture
def folder():
    """A folder that tasks and workers see as well."""
    folder = Path("/srv/upgrade")
    folder.mkdir()
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def files():
    server = Misbehaving()
    yield server
    server.close()


@pytest.fixture
def ntfy():
    server = Ntfy()
    yield server
    server.close()


@pytest.fixture
def gate(folder):
    gate = Gate(folder / "gate")
    yield gate
    gate.close()


def write_app(id, shell, *keys):
    lines = [f'id = "{id}"', 'background_interval = "never"', *keys, "[[task]]", f"shell = '''{shell}'''"]
    (APPS / f"{id}.toml").write_text("\n".join(lines) + "\n")


def configure(folder, ntfy):
    """As an administrator does. The machine has no network but the loopback."""
    write_app(SLOW, f"echo began >> {folder}/slow; read _ < {folder}/gate; echo ended >> {folder}/slow", 'deadline = "5min"')
    write_app(FILES, f"cat >> {folder}/told")
    write_app(PUSHED, f'printf "%s\\n" "$(cat)" >> {folder}/pushes', "push_burst = 100", "push_per_hour = 3600")
    settings = Path("/etc/refreshd/refreshd.toml")
    settings.write_text(settings.read_text().replace('#network = "any"\n', 'network = "none"\n'))
    sources = Path("/etc/refreshd/push.toml")
    sources.write_text(f'[[ntfy]]\nname = "home"\nurl = "{ntfy.url}"\ntopics = {{ "{PUSHED}" = "{TOPIC}" }}\n')
    shutil.chown(sources, "root", "refresh-push")
    sources.chmod(0o640)
    done("refreshctl", "check")
    done("refreshctl", "reload")
    done("systemctl", "start", "refresh-push.service")
    ntfy.wait_for_subscriber()


def push(number):
    return '{"aps":{"content-available":1},"content-id":%d}' % number


def upgrade_pushing(ntfy, *packages):
    """Installs packages, and publishes a message at every step that dpkg reports. Returns the number of messages."""
    reports, reported = os.pipe()
    command = ["dpkg", "--status-fd", str(reported), "--install", *map(str, packages)]
    count = 0
    with subprocess.Popen(command, pass_fds=[reported], stdout=subprocess.DEVNULL, env=ENVIRONMENT) as dpkg:
        os.close(reported)
        with open(reports) as steps:
            for count, _ in enumerate(steps, 1):
                ntfy.publish(TOPIC, push(count))
    assert dpkg.returncode == 0
    return count


def since(unit):
    """When a unit became active."""
    return done("systemctl", "show", "--value", "-p", "ActiveEnterTimestampMonotonic", unit)


def outcomes(app):
    """The trigger and the outcome of each refresh of an app."""
    history = json.loads(done("refreshctl", "history", app, "--limit", "1000", "--json"))
    return [(refresh["trigger"], refresh["outcome"]) for refresh in history["refreshes"]]


@pytest.mark.bound(240)
@pytest.mark.parametrize("is_same", [False, True], ids=["upgrade", "reinstallation"])
def test_an_upgrade_loses_and_doubles_no_refresh_no_transfer_and_no_push(before, is_same, folder, files, ntfy, gate):
    install(*([*DAEMON, *BRIDGE, *SESSION] if is_same else before))
    configure(folder, ntfy)
    journal = Journal()
    with subprocess.Popen(["refreshctl", "run", SLOW], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as asking:
        journal.wait("refreshStarted", REFRESH_APP=SLOW)
        done("refreshctl", "download", FILES, files.url("plain", SIZE, hold=THERE), "--to", f"{folder}/file", "--network", "none")
        files.wait_until_held("plain")
        old, listening = [main_pid(unit) for unit in UNITS], since("refreshd.socket")
        pushes = upgrade_pushing(ntfy, *DAEMON, *BRIDGE, *SESSION)
        asking.terminate()
    assert "~before" not in done("dpkg-query", "--show", "refreshd", "refresh-push", "refresh-session")
    assert all(new != pid for new, pid in zip([main_pid(unit) for unit in UNITS], old, strict=True))
    # Callers wait for the new daemon, and none is refused.
    assert since("refreshd.socket") == listening
    gate.open()
    files.let_go()
    journal.wait("refreshFinished", REFRESH_APP=SLOW)
    journal.wait("refreshFinished", REFRESH_APP=FILES, REFRESH_TRIGGER="transfer")
    journal.wait("refreshFinished", REFRESH_APP=PUSHED, count=pushes)
    # The refresh.
    assert (folder / "slow").read_text().split() == ["began", "ended"]
    assert outcomes(SLOW) == [("manual", "new_data")]
    # The transfer: every byte came once, and the app was woken once.
    assert Body(SIZE).is_in(folder / "file")
    assert [one.start for one in files.of("plain")] == [None, THERE] and files.sent("plain") == SIZE
    assert [json.loads(line)["outcome"] for line in (folder / "told").read_text().splitlines()] == ["done"]
    assert outcomes(FILES) == [("transfer", "new_data")]
    # The pushes, one at every step of dpkg.
    assert pushes > 10
    assert (folder / "pushes").read_text().splitlines() == [push(number) for number in range(1, pushes + 1)]
    assert outcomes(PUSHED) == [("push", "new_data")] * pushes
    # The settings stayed, and nothing failed.
    assert '\nnetwork = "none"\n' in Path("/etc/refreshd/refreshd.toml").read_text()
    assert run("systemctl", "--failed", "--no-legend").stdout == ""
