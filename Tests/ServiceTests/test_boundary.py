"""A task speaks on the socket for its own app only, whoever it runs as, so that a sandbox is a boundary there too."""

import os
import pathlib
import signal
import subprocess
import sys

import pytest

from gate import Gate
from service import SOCKET, TODO, app, as_user
from waiting import Bound

MAIL = "org.example.mail-box"
ASKS = f"""
own() {{ "$@" > /dev/null 2>&1 && echo "may $*" || echo "may not $*"; }}
own refreshctl status {TODO}
own refreshctl status {MAIL}
own refreshctl run {MAIL}
own refreshctl upload {MAIL} /etc/hostname http://127.0.0.1/x
own refreshctl status
own refreshctl reload
own refreshctl list
own refreshctl run {TODO} --anyway
own refreshctl set {TODO} --background 15min
own refreshctl disable {TODO}
own refreshctl enable {TODO}
own refreshctl skip {TODO}
own refreshctl pause
own refreshctl push {TODO} {{}}
setsid sh -c 'refreshctl status {MAIL}' 2>&1 | grep -o "speaks for itself only"
exit 0
"""


@pytest.mark.parametrize("owner", ["anna", "root"])
@pytest.mark.parametrize("keys", [{}, {"sandbox": "strict", "offline": True}], ids=["free", "sandboxed"])
def test_a_task_speaks_for_its_own_app_only(refreshd, owner, keys):
    refreshd.launch_by("systemd")
    refreshd.configure(
        app(ASKS, owner=owner, deadline="1min", **keys), app("exit 0", id=MAIL, owner=owner, deadline="1min"))
    refreshd.start()
    check(refreshd)
    # The same user elsewhere may.
    assert as_user(owner, "refreshctl", "status", MAIL).returncode == 0


def test_a_spawned_task_with_a_cgroup_speaks_for_its_own_app_only(spawned):
    spawned.configure(app(ASKS, owner="anna", deadline="1min"), app("exit 0", id=MAIL, owner="anna", deadline="1min"))
    spawned.start()
    check(spawned)


def check(refreshd):
    lines = [line.removeprefix("work: ") for line in refreshd.refreshctl("run", TODO).stdout.splitlines()]
    asked = [line for line in lines if line.startswith("may")]
    assert [line.split()[1] == "not" for line in asked] == [False] + [True] * 13, lines
    assert "speaks for itself only" in lines
    assert refreshd.history(MAIL) == []


# A process that joins a cgroup, asks for an app that is another's and for its own, and ends at once.
ENDS = """
import json, os, socket, sys
path, procs, uid, *calls = sys.argv[1:]
open(procs, "w").write(str(os.getpid()))
os.setuid(int(uid))
client = socket.socket(socket.AF_UNIX)
client.connect(path)
for app in calls:
    call = {"method": "org.refreshd.App.Signal", "parameters": {"app": app, "signal": "foreground"}, "oneway": True}
    client.sendall(json.dumps(call).encode() + b"\\0")
"""


def test_a_process_of_a_task_that_has_ended_speaks_for_its_own_app_only(refreshd, anna):
    if tuple(map(int, os.uname().release.split(".")[:2])) < (6, 15):
        pytest.skip("older kernels forget the cgroup of a process when its parent has waited for it")
    refreshd.launch_by("systemd")
    gate = Gate(f"/run/gate.{TODO}")
    refreshd.configure(
        app(f"echo $$; read _ < /run/gate.{TODO}", owner="anna", deadline="5min"),
        app("exit 0", id=MAIL, owner="anna", deadline="1min"))
    refreshd.start()
    client = refreshd.run_in_background()
    [unit] = refreshd.systemctl("list-units", "--plain", "--no-legend", "refreshd-task-*").stdout.splitlines()
    group = refreshd.systemctl("show", "--value", "--property=ControlGroup", unit.split()[0]).stdout.strip()
    procs = pathlib.Path(f"/sys/fs/cgroup{group}/cgroup.procs")
    daemon = refreshd.main_pid
    os.kill(daemon, signal.SIGSTOP)
    try:
        subprocess.run([sys.executable, "-c", ENDS, SOCKET, procs, str(anna), MAIL, TODO], check=True, timeout=60)
    finally:
        os.kill(daemon, signal.SIGCONT)
    bound = Bound()
    while refreshd.app()["phase"] != "foreground":
        assert bound.left, "its call was lost"
    # The first of its calls came before.
    assert refreshd.app(MAIL)["phase"] == "background"
    gate.open()
    client.wait(timeout=60)
    gate.close()
