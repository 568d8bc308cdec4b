"""A user's own daemon, under the user's own service manager."""

import contextlib
import os
import pathlib
import subprocess

import pytest

from gate import Gate
from service import TODO, app, as_user
from waiting import Bound

HOME = pathlib.Path("/home/anna")
IDS = [f"org.example.app{number}" for number in range(20)]


class UserService:
    """The daemon of anna, who is not logged in."""

    def __init__(self):
        uid = subprocess.run(["id", "-u", "anna"], check=True, capture_output=True, text=True).stdout.strip()
        self.manager = f"user@{uid}.service"
        self.runtime = f"/run/user/{uid}"

    def systemctl(self, *arguments):
        command = ["systemctl", "--user", "--machine=anna@", *arguments]
        answer = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert answer.returncode == 0, answer
        return answer.stdout.strip()

    def write(self, path, text):
        """Writes a file into her configuration folder."""
        file = HOME / ".config/refreshd" / path
        write = f"mkdir -p {file.parent} && cat > {file}"
        subprocess.run(["runuser", "--login", "anna", "--command", write], input=text, check=True, text=True)

    def refreshctl(self, *arguments):
        return as_user("anna", f"XDG_RUNTIME_DIR={self.runtime}", "refreshctl", *arguments)

    def outcomes(self, id=TODO):
        """The start of the daemon and the outcome of each refresh of an app, newest first."""
        answer = self.refreshctl("history", id, "--json")
        assert answer.returncode == 0, answer.stderr
        return [(each["id"].split("-")[0], each["outcome"], each.get("stop_reason")) for each in json_list(answer.stdout)]

    def units(self):
        return self.systemctl("list-units", "--all", "--plain", "--no-legend", "refreshd-task-*").splitlines()


def json_list(text):
    import json

    answer = json.loads(text)
    return answer["refreshes"] if isinstance(answer, dict) else answer


@pytest.fixture
def anna(installed):
    subprocess.run(["loginctl", "enable-linger", "anna"], check=True, timeout=60)
    service = UserService()
    service.systemctl("daemon-reload")
    yield service
    service.systemctl("stop", "refreshd.service", "refreshd.socket", "refreshd.slice")
    subprocess.run(["loginctl", "disable-linger", "anna"], check=True, timeout=60)
    for directory in (".config/refreshd", ".local/state/refreshd"):
        subprocess.run(["rm", "-rf", HOME / directory], check=True)


@pytest.fixture
def gates():
    gates = {id: Gate(f"/run/gate.{id}") for id in [TODO, *IDS]}
    yield gates
    for gate in gates.values():
        gate.close()


def test_the_first_call_starts_the_users_daemon_with_files_in_the_users_home(anna):
    anna.write("apps.d/todo.toml", app("id -un"))
    anna.systemctl("start", "refreshd.socket")
    answer = anna.refreshctl("run", TODO)
    assert answer.returncode == 0, answer.stderr
    assert "anna" in answer.stdout
    assert anna.systemctl("show", "--value", "--property=StatusText", "refreshd.service") == "Keeping 1 app fresh."
    assert (HOME / ".local/state/refreshd").is_dir()
    assert "answers on the user bus" in anna.refreshctl("status").stdout


@contextlib.contextmanager
def started_before_its_bus(anna):
    """Her daemon, which has started while she has no bus; the bus comes at the end of the block."""
    # Without her bus, her manager is reached on its own socket.
    own = lambda *arguments: as_user("anna", f"XDG_RUNTIME_DIR={anna.runtime}", "systemctl", "--user", *arguments)  # noqa: E731
    try:
        assert own("mask", "--runtime", "dbus.socket", "dbus.service").returncode == 0
        assert own("stop", "dbus.socket", "dbus.service").returncode == 0
        started = own("start", "refreshd.service")
        assert started.returncode == 0, started.stderr
        status = anna.refreshctl("status").stdout
        assert "systemd (" in status and "No task can be started" in status and "All is well" not in status
        yield
    finally:
        own("unmask", "--runtime", "dbus.socket", "dbus.service")
        own("daemon-reload")
        own("start", "dbus.socket")


def test_a_daemon_that_starts_before_its_bus_waits_for_it(anna):
    """Its tasks would inherit the restrictions of its unit, and its apps' sandboxes would be lost."""
    command = "touch probe 2> /dev/null && echo wrote || echo refused"
    anna.write("apps.d/todo.toml", app(command, deadline="5min", sandbox="strict"))
    with started_before_its_bus(anna):
        client = subprocess.Popen(
            ["runuser", "--login", "anna", "--command", f"XDG_RUNTIME_DIR={anna.runtime} refreshctl run {TODO}"],
            stdout=subprocess.PIPE, text=True,
        )
    assert "refused" in client.communicate(timeout=120)[0]
    status = anna.refreshctl("status").stdout
    assert "systemd (systemd manages this machine)" in status and "All is well" in status


def test_a_transfer_of_a_daemon_that_starts_before_its_bus_waits_for_it(anna, misbehaving):
    """It says so, keeps no call waiting, and ends well once the bus is there."""
    anna.write("refreshd.toml", 'settle = "0s"\n')
    anna.write("apps.d/todo.toml", app("cat"))
    path = HOME / "got"
    with started_before_its_bus(anna):
        url = misbehaving.url("plain", 300_000)
        answer = anna.refreshctl("download", TODO, url, "--to", str(path), "--network", "none")
        assert answer.returncode == 0, answer.stderr
        status = " ".join(anna.refreshctl("status").stdout.split())
        assert "refreshes wait until their deadlines, and transfers until it answers." in status
        assert "starting" in anna.refreshctl("transfers").stdout
        assert misbehaving.of("plain") == [] and not path.exists()
    bound = Bound()
    while '"ended"' not in (answer := anna.refreshctl("transfers", "--json").stdout):
        assert bound.left, answer
    assert '"done"' in answer and path.stat().st_size == 300_000
    assert "All is well" in anna.refreshctl("status").stdout
    path.unlink()


@pytest.mark.parametrize("time", range(2))
def test_a_restart_of_the_users_manager_brings_the_launcher_back(anna, time):
    anna.write(
        "apps.d/todo.toml", app("touch probe 2> /dev/null && echo wrote || echo refused", sandbox="strict"))
    anna.systemctl("enable", "--now", "refreshd.service")
    try:
        subprocess.run(["systemctl", "restart", anna.manager], check=True, timeout=120)
        answer = anna.refreshctl("run", TODO)
        assert "refused" in answer.stdout, answer.stderr
        status = anna.refreshctl("status").stdout
        assert "systemd (" in status and "All is well" in status
    finally:
        anna.systemctl("disable", "refreshd.service", "refreshd.socket")


def test_a_users_task_speaks_for_its_own_app_only(anna):
    anna.write("apps.d/todo.toml", app(f"refreshctl status {TODO} > /dev/null && refreshctl status {IDS[0]}; exit 0"))
    anna.write(f"apps.d/{IDS[0]}.toml", app("exit 0", id=IDS[0]))
    anna.systemctl("start", "refreshd.socket")
    assert "speaks for itself only" in anna.refreshctl("run", TODO).stdout
    assert anna.refreshctl("status", IDS[0]).returncode == 0


def test_a_users_sandbox_is_in_force(anna):
    """Her manager makes it in a user namespace."""
    command = """mkdir -p open; touch /tmp/probe
for file in open/probe probe; do touch $file 2> /dev/null && echo $file; done
test $(readlink /proc/self/ns/net) = %s && echo network
grep ^NoNewPrivs: /proc/self/status | cut -f2""" % os.readlink("/proc/self/ns/net")
    anna.write("apps.d/todo.toml", app(command))
    anna.systemctl("start", "refreshd.socket")
    words = lambda: [word for word in anna.refreshctl("run", TODO).stdout.split() if word != "work:"]  # noqa: E731
    assert words() == ["open/probe", "probe", "network", "0"]
    pathlib.Path("/tmp/probe").unlink()
    for keys, answer in [({}, ["network", "1"]), ({"offline": True}, ["1"])]:
        anna.write("apps.d/todo.toml", app(command, sandbox="strict", writable=["~/open"], **keys))
        assert anna.refreshctl("reload").returncode == 0
        assert words() == ["open/probe", *answer]
        assert not pathlib.Path("/tmp/probe").exists()


@pytest.mark.parametrize("how", [["restart"], ["kill", "--signal=KILL", "--kill-whom=main"]], ids=["restart", "kill"])
def test_a_restart_interrupts_nothing(anna, journal, gates, how):
    anna.write("refreshd.toml", "max_concurrent = 20\n")
    for id in IDS:
        script = f"echo at work; read _ < /run/gate.{id}; echo done; exit 100"
        anna.write(f"apps.d/{id}.toml", app(script, id=id, deadline="5min"))
    anna.systemctl("start", "refreshd.socket")
    clients = [
        subprocess.Popen(
            ["runuser", "--login", "anna", "--command", f"XDG_RUNTIME_DIR={anna.runtime} refreshctl run {id}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        for id in IDS
    ]
    journal.wait("taskOutput", count=20)
    assert len(anna.units()) == 20
    anna.systemctl(*how, "refreshd.service")
    journal.wait("daemonReady", count=2)
    for id in IDS:
        gates[id].open()
    journal.wait("refreshFinished", count=20)
    for id in IDS:
        assert anna.outcomes(id) == [("1", "no_data", None)]
    assert anna.units() == []
    for client in clients:
        client.kill()
        client.wait()


def test_the_end_of_the_users_session_asks_tasks_to_end_and_they_run_again(anna, journal, gates):
    """The end of a user's manager is like the shutdown of a machine: no task is left running."""
    anna.write("apps.d/todo.toml", app("trap 'echo told; exit 1' TERM; echo at work; read _ < /run/gate.org.example.todo"))
    anna.systemctl("start", "refreshd.socket")
    client = subprocess.Popen(
        ["runuser", "--login", "anna", "--command", f"XDG_RUNTIME_DIR={anna.runtime} refreshctl run {TODO}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    journal.wait("taskOutput")
    subprocess.run(["systemctl", "restart", anna.manager], check=True, timeout=120)
    client.wait(timeout=60)
    journal.wait("refreshStopped", REFRESH_APP=TODO)
    anna.systemctl("start", "refreshd.service")
    journal.wait("taskOutput", count=3)
    gates[TODO].open()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    assert anna.outcomes() == [("2", "new_data", None), ("1", "failed", "shutdown")]


def test_a_workers_confinement_holds_under_the_users_manager_and_a_transfer_ends_well(anna, misbehaving):
    """The user's manager makes no view of the file system, but filters system calls."""
    anna.write("refreshd.toml", 'settle = "0s"\nlauncher = "systemd"\n')
    anna.write("apps.d/todo.toml", app("cat"))
    anna.systemctl("start", "refreshd.socket")
    path = HOME / "got"
    url = misbehaving.url("plain", 300_000, hold=1000)
    answer = anna.refreshctl("download", TODO, url, "--to", str(path), "--network", "none")
    assert answer.returncode == 0, answer.stderr
    misbehaving.wait_until_held("plain")
    (unit,) = [line.split()[0] for line in anna.units() if "transfers" in line]
    shown = anna.systemctl("show", unit).splitlines()
    assert "NoNewPrivileges=yes" in shown and "MemoryDenyWriteExecute=yes" in shown and "ProtectSystem=no" in shown
    misbehaving.let_go()
    answer = anna.refreshctl("transfers", "--json")
    while '"ended"' not in answer.stdout:
        answer = anna.refreshctl("transfers", "--json")
    assert '"done"' in answer.stdout
    path.unlink()
