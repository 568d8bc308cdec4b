"""The push bridge as a service next to the daemon: its unit, its user, its rights and its credentials."""

import os
import pathlib
import pwd
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest
import varlink

from service import SOCKET, TODO, app, as_user
from servers.certificates import Certificates
from servers.ntfy import Ntfy

ETC = pathlib.Path("/etc/refreshd")
DROP_INS = pathlib.Path("/run/systemd/system/refresh-push.service.d")
TOPIC = "upTodo0123456"
TOKEN = "tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2"
USER = "refresh-push"
# A file that exists once the app was woken, with the payloads of the wakes.
TOLD = pathlib.Path("/run/told")
TASK = f'printf "%s\\n" "$(cat)" >> {TOLD}'


def push(number):
    return '{"aps":{"content-available":1},"content-id":%d}' % number


class Bridge:
    def __init__(self, refreshd):
        self.refreshd = refreshd

    def clear(self):
        self.refreshd.systemctl("stop", "refresh-push.service", check=False)
        self.refreshd.systemctl("reset-failed", "refresh-push.service", check=False)
        self.refreshd.drop(DROP_INS)
        shutil.rmtree("/var/lib/refresh-push", ignore_errors=True)
        TOLD.unlink(missing_ok=True)

    def configure(self, ntfy, topic=TOPIC, **keys):
        """Writes push.toml as an administrator does: its secrets are for root and the bridge only."""
        keys = {"name": "home", "url": ntfy.url, "ca_file": str(ntfy.certificates.authority), **keys}
        lines = ["[[ntfy]]", *[f'{key} = "{value}"' for key, value in keys.items()], f'topics = {{ "{TODO}" = "{topic}" }}']
        file = ETC / "push.toml"
        file.write_text("\n".join(lines) + "\n")
        shutil.chown(file, "root", USER)
        file.chmod(0o640)

    def systemctl(self, action, check=True):
        return self.refreshd.systemctl(action, "refresh-push.service", check=check)

    def show(self, name):
        answer = self.refreshd.systemctl("show", "--value", f"--property={name}", "refresh-push.service")
        return answer.stdout.strip()

    @property
    def main_pid(self):
        return int(self.show("MainPID"))

    def drop_in(self, text):
        DROP_INS.mkdir(parents=True, exist_ok=True)
        (DROP_INS / "test.conf").write_text(text)
        self.refreshd.systemctl("daemon-reload")

    def is_connected(self):
        """Whether the status shows its only source as connected."""
        sources = self.refreshd.call("Status")["status"].get("push", {}).get("sources", [])
        return [source["is_connected"] for source in sources] == [True]

    def wait_for(self, what, condition):
        """Waits until the condition holds, which is looked at after each entry of the journal, and each second."""
        end = time.monotonic() + 30
        follow = ["journalctl", "--follow", "--lines=0", "--output=cat"]
        with subprocess.Popen(follow, stdout=subprocess.PIPE, bufsize=0) as journal:
            try:
                while not condition():
                    assert time.monotonic() < end, f"{what} did not come in 30 s"
                    if select.select([journal.stdout], [], [], 1)[0]:
                        os.read(journal.stdout.fileno(), 1 << 16)
            finally:
                journal.kill()

    def delivered(self, *numbers):
        """Waits until these payloads have woken the app, in this order."""
        lines = [push(number) for number in numbers]
        self.wait_for(f"pushes {numbers}", lambda: TOLD.exists() and TOLD.read_text().splitlines() == lines)


@pytest.fixture
def ntfy(scratch_certificates):
    server = Ntfy(scratch_certificates)
    yield server
    server.close()


@pytest.fixture(scope="module")
def scratch_certificates():
    directory = pathlib.Path("/run/certificates")
    certificates = Certificates(directory)
    directory.chmod(0o755)
    yield certificates
    shutil.rmtree(directory)


@pytest.fixture
def bridge(refreshd, ntfy):
    """The bridge, stopped, with an app and its running daemon. This machine has no network but the loopback."""
    bridge = Bridge(refreshd)
    bridge.clear()
    refreshd.configure(app(TASK, push_burst=100, push_per_hour=3600))
    (ETC / "refreshd.toml").write_text('[push]\nnetwork = "none"\n')
    bridge.configure(ntfy)
    refreshd.start()
    yield bridge
    bridge.clear()


@pytest.fixture
def running(bridge, ntfy):
    bridge.systemctl("start")
    ntfy.wait_for_subscriber()
    return bridge


def test_it_is_ready_as_a_user_of_its_own_and_wakes_apps(running, ntfy):
    assert running.show("ActiveState") == "active"
    assert pathlib.Path(f"/proc/{running.main_pid}").owner() == USER
    ntfy.publish(TOPIC, push(1))
    running.delivered(1)
    running.wait_for("the status", running.is_connected)
    state = pathlib.Path("/var/lib/refresh-push")
    assert (state.owner(), oct(state.stat().st_mode & 0o777)) == (USER, "0o700")


def test_without_a_source_there_is_nothing_to_start(bridge):
    (ETC / "push.toml").unlink()
    bridge.systemctl("start")
    assert (bridge.show("ActiveState"), bridge.show("ConditionResult")) == ("inactive", "no")


def test_a_mistake_is_told_and_not_tried_again(bridge, journal):
    (ETC / "push.toml").write_text('[[ntfy]]\ncolour = "blue"\n')
    assert bridge.systemctl("start", check=False).returncode != 0
    assert bridge.show("ExecMainStatus") == "78"
    assert (bridge.show("ActiveState"), bridge.show("NRestarts")) == ("failed", "0")
    assert "push.toml:2: ntfy.colour" in journal.text()


def test_a_reload_puts_another_file_in_force_all_or_nothing(running, ntfy):
    before = running.main_pid
    running.configure(ntfy, topic="upOther012345")
    running.systemctl("reload")
    assert ntfy.wait_for_subscriber(2).topics == ["upOther012345"]
    (ETC / "push.toml").write_text('[[ntfy]]\ncolour = "blue"\n')
    running.systemctl("reload")
    ntfy.publish("upOther012345", push(1))
    running.delivered(1)
    assert running.main_pid == before


def test_a_bridge_that_hangs_is_killed_and_started_again_and_goes_on(bridge, journal, ntfy):
    bridge.drop_in("[Service]\nWatchdogSec=1s\nTimeoutAbortSec=2s\n")
    bridge.systemctl("start")
    ntfy.wait_for_subscriber()
    ntfy.publish(TOPIC, push(1))
    bridge.delivered(1)
    os.kill(bridge.main_pid, signal.SIGSTOP)
    ntfy.publish(TOPIC, push(2))
    bridge.wait_for("another start", lambda: bridge.show("NRestarts") == "1")
    bridge.delivered(1, 2)
    assert "Watchdog timeout" in journal.text()


def test_a_bridge_at_rest_keeps_the_watchdog_quiet(refreshd, bridge, ntfy):
    bridge.drop_in("[Service]\nWatchdogSec=1s\n")
    bridge.systemctl("start")
    ntfy.wait_for_subscriber()
    refreshd.configure(app("sleep 3"))
    refreshd.systemctl("reload", "refreshd.service")
    assert refreshd.refreshctl("run", TODO).returncode == 0
    assert (bridge.show("NRestarts"), bridge.show("ActiveState")) == ("0", "active")


@pytest.mark.parametrize(
    "ways", [[["restart"]], [["kill", "--signal=KILL", "--kill-whom=main"]], [["stop"], ["start"]]],
    ids=["restart", "kill", "stop"],
)  # fmt: skip
def test_the_daemon_may_go_and_come_back_while_it_listens(running, ntfy, ways):
    before = running.main_pid
    ntfy.publish(TOPIC, push(1))
    running.delivered(1)
    for way in ways:
        running.refreshd.systemctl(*way, "refreshd.service")
        ntfy.publish(TOPIC, push(2 if way == ways[0] else 3))
    running.delivered(*range(1, 2 + len(ways)))
    assert running.main_pid == before


def test_a_credential_comes_from_the_service_manager(bridge, ntfy):
    ntfy.accounts.add(f"Bearer {TOKEN}")
    token = ETC / "ntfy.token"
    token.write_text(TOKEN + "\n")
    token.chmod(0o600)
    bridge.configure(ntfy, credential_file="ntfy.token")
    bridge.drop_in(f"[Service]\nLoadCredential=ntfy.token:{token}\n")
    bridge.systemctl("start")
    bridge.wait_for("the connection", bridge.is_connected)
    ntfy.publish(TOPIC, push(1))
    bridge.delivered(1)


# Calls a method as the user of the bridge, and prints the error or its absence.
CALL = """
import json, sys, varlink
client = varlink.Client(address="unix:" + sys.argv[1])
interface, _, method = sys.argv[2].rpartition(".")
try:
    with client.open("org.refreshd." + interface) as connection:
        answer = getattr(connection, method)(**json.loads(sys.argv[3]))
    print("answered", json.dumps(answer))
except varlink.VarlinkError as error:
    print(error.error())
"""


def call_as(user, method, parameters):
    command = ["runuser", "-u", user, "--", sys.executable, "-c", CALL, SOCKET, method, parameters]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout.strip()


DELIVERY = f'{{"deliveries": [{{"app": "{TODO}", "payload": "{{\\"aps\\": {{\\"content-available\\": 1}}}}"}}]}}'


def test_its_user_may_push_and_nothing_else(bridge):
    assert call_as(USER, "Push.Deliver", DELIVERY).startswith('answered {"results": [{"fate": "queued"')
    bridge.wait_for("the wake", TOLD.exists)
    assert call_as("anna", "Push.Deliver", DELIVERY) == "org.refreshd.NotAllowed"
    assert call_as("anna", "Push.Report", '{"sources": []}') == "org.refreshd.NotAllowed"
    one = f'{{"app": "{TODO}"}}'
    for method, parameters in [
        ("App.Push", f'{{"app": "{TODO}", "payload": "{{}}"}}'),
        ("App.Signal", f'{{"app": "{TODO}", "signal": "logout"}}'),
        ("Manager.Show", one),
        ("Manager.Why", one),
        ("Manager.History", one),
        ("Manager.Status", "{}"),
        ("Manager.Disable", f'{{"apps": ["{TODO}"]}}'),
        ("Manager.Pause", "{}"),
        ("Manager.Reload", "{}"),
        ("Transfers.List", one),
    ]:
        assert call_as(USER, method, parameters) == "org.refreshd.NotAllowed", method
    # A user without permission for any app sees none.
    assert call_as(USER, "Manager.List", "{}") == 'answered {"apps": []}'


def test_its_bounds_are_in_force(running):
    status = pathlib.Path(f"/proc/{running.main_pid}/status").read_text()
    assert running.show("LimitCORE") == "0"
    fields = dict(line.split(":\t") for line in status.splitlines() if ":\t" in line)
    assert [int(fields[name], 16) for name in ("NoNewPrivs", "CapBnd", "CapEff", "Seccomp")] == [1, 0, 0, 2]
    assert int(fields["Uid"].split()[0]) == pwd.getpwnam(USER).pw_uid


def test_the_units_are_without_a_fault(refreshd):
    pathlib.Path("/run/user/0").mkdir(parents=True, exist_ok=True)
    for scope in ("system", "user"):
        unit = f"/usr/lib/systemd/{scope}/refresh-push.service"
        answer = subprocess.run(
            ["systemd-analyze", f"--{scope}", "verify", unit], capture_output=True, text=True, timeout=60,
            env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": "/run/user/0"},
        )  # fmt: skip
        assert (answer.returncode, answer.stderr) == (0, "")


def test_the_exposure_of_the_bridge_is_at_most_eleven_tenths(refreshd):
    """The score in tenths; 100 is a service without any restriction. The network accounts for 15."""
    answer = subprocess.run(
        ["systemd-analyze", "security", "--threshold=11", "refresh-push.service"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stdout.splitlines()[-1]


def test_a_users_bridge_finds_the_users_daemon(installed, ntfy):
    home = pathlib.Path("/home/anna")
    config = home / ".config/refreshd"
    delivered = home / "told"
    (config / "apps.d").mkdir(parents=True, exist_ok=True)
    (config / "refreshd.toml").write_text('[push]\nnetwork = "none"\n')
    (config / "apps.d/todo.toml").write_text(app("cat > ~/told"))
    source = f'url = "{ntfy.url}"\nca_file = "{ntfy.certificates.authority}"\ntopics = {{ "{TODO}" = "{TOPIC}" }}\n'
    (config / "push.toml").write_text(f'[[ntfy]]\nname = "home"\n{source}')
    (config / "push.toml").chmod(0o600)
    subprocess.run(["chown", "-R", "anna:anna", home / ".config"], check=True)
    systemctl = ["systemctl", "--user", "--machine=anna@"]
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    try:
        subprocess.run([*systemctl, "start", "refreshd.socket", "refresh-push.service"], check=True, timeout=60)
        ntfy.wait_for_subscriber()
        ntfy.publish(TOPIC, push(1))
        end = time.monotonic() + 30
        while not delivered.exists() or delivered.read_text() != push(1):
            assert time.monotonic() < end, "the app was not woken"
            as_user("anna", "true")
        assert (home / ".local/state/refresh-push").owner() == "anna"
    finally:
        units = ["refresh-push.service", "refreshd.service", "refreshd.socket", "refreshd.slice"]
        subprocess.run([*systemctl, "stop", *units], check=True, timeout=60)
        subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
        for directory in (".config/refreshd", ".local/state/refreshd", ".local/state/refresh-push", "told"):
            subprocess.run(["rm", "-rf", home / directory], check=True)
