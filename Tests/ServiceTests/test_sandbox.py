"""`[sandbox]` of an app's file restricts the app's tasks, and nothing else."""

import pathlib
import socket

import pytest

from gate import Gate
from service import TODO, app

FOLDER = pathlib.Path("/srv/sandbox")
CONNECT = (
    """/usr/bin/python3 -c 'import socket; socket.create_connection(("127.0.0.1", {port}), 2)' 2> /dev/null """
    "&& echo connected || echo refused"
)

# The table, a command, and its output without and with the table.
EFFECTS = {
    "ProtectSystem": (
        'ProtectSystem = "strict"\nReadWritePaths = ["/srv/sandbox"]',
        "for file in /usr/probe /etc/probe /srv/sandbox/probe; do touch $file 2> /dev/null && echo $file; done; true",
        "/usr/probe /etc/probe /srv/sandbox/probe", "/srv/sandbox/probe",
    ),
    "ReadOnlyPaths": (
        'ReadOnlyPaths = "/srv/sandbox"', "touch /srv/sandbox/probe 2> /dev/null && echo wrote || echo kept",
        "wrote", "kept",
    ),
    "InaccessiblePaths": (
        'InaccessiblePaths = ["-/nowhere", "/srv/sandbox"]', "cat /srv/sandbox/secret 2> /dev/null || echo unseen",
        "secret", "unseen",
    ),
    "ProtectHome": (
        "ProtectHome = true", "test -d /home/anna && echo seen || echo unseen", "seen", "unseen",
    ),
    "PrivateTmp": ("PrivateTmp = true", "ls /tmp/probe 2> /dev/null || echo unseen", "/tmp/probe", "unseen"),
    "PrivateDevices": ("PrivateDevices = true", "test -e /dev/ptmx && ls -d /dev/probe 2> /dev/null || echo unseen", "/dev/probe", "unseen"),
    "PrivateNetwork": (
        "PrivateNetwork = true",
        "test $(readlink /proc/self/ns/net) = $(readlink /proc/1/ns/net) && echo shared || echo own",
        "shared", "own",
    ),
    "PrivateUsers": (
        "PrivateUsers = true",
        "grep -q 4294967295 /proc/self/uid_map && echo shared || echo own",
        "shared", "own",
    ),
    "NoNewPrivileges": ("NoNewPrivileges = true", "grep ^NoNewPrivs: /proc/self/status", "NoNewPrivs: 0", "NoNewPrivs: 1"),
    "CapabilityBoundingSet": (
        'CapabilityBoundingSet = ["CAP_CHOWN", "CAP_KILL"]',
        "grep ^CapBnd: /proc/self/status | grep -q 0000000000000021 && echo two || echo more", "more", "two",
    ),
    "SystemCallFilter": (
        'SystemCallFilter = "~@chown"\nSystemCallErrorNumber = "EPERM"',
        "chown 1 /srv/sandbox/secret 2> /dev/null && echo may || echo may not", "may", "may not",
    ),
    "RestrictAddressFamilies": (
        'RestrictAddressFamilies = ["AF_UNIX"]',
        "/usr/bin/python3 -c 'import socket; socket.socket()' 2> /dev/null && echo may || echo may not",
        "may", "may not",
    ),
    "RestrictAddressFamilies-none": (
        'RestrictAddressFamilies = "none"',
        "/usr/bin/python3 -c 'import socket; socket.socket(socket.AF_UNIX)' 2> /dev/null && echo may || echo may not",
        "may", "may not",
    ),
    "RestrictNamespaces": (
        'RestrictNamespaces = ["uts"]',
        "unshare --uts true 2> /dev/null && echo uts; unshare --ipc true 2> /dev/null && echo ipc; true", "uts ipc", "uts",
    ),
    "UMask": ('UMask = "0077"', "umask", "0022", "0077"),
    "Nice": ("Nice = 7", "nice", "0", "7"),
    "LimitNOFILE": ("LimitNOFILE = 77", "test $(ulimit -n) = 77 && echo 77 || echo more", "more", "77"),
    "IOSchedulingClass": (
        'IOSchedulingClass = "idle"', "ionice | cut -d: -f1", "none", "idle",
    ),
    "CPUSchedulingPolicy": (
        'CPUSchedulingPolicy = "batch"', "chrt -p $$ | grep -o SCHED_[A-Z]*", "SCHED_OTHER", "SCHED_BATCH",
    ),
}


@pytest.fixture
def folder():
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "secret").write_text("secret\n")
    for path in (pathlib.Path("/tmp/probe"), pathlib.Path("/dev/probe")):
        path.touch()
    return FOLDER


def printed(refreshd):
    """The words that the app's task prints."""
    for probe in ("/usr/probe", "/etc/probe", "/srv/sandbox/probe"):
        pathlib.Path(probe).unlink(missing_ok=True)
    lines = refreshd.refreshctl("run", TODO).stdout.splitlines()
    return " ".join(" ".join(line.removeprefix("work: ") for line in lines).split())


@pytest.mark.parametrize("table, command, without, within", EFFECTS.values(), ids=EFFECTS)
def test_what_a_key_takes_away_is_away(refreshd, folder, table, command, without, within):
    refreshd.configure(app(command))
    refreshd.start()
    assert printed(refreshd) == without
    refreshd.configure(app(command) + f"[sandbox]\n{table}\n")
    refreshd.systemctl("reload", "refreshd.service")
    assert printed(refreshd) == within


def test_addresses_that_are_denied_cannot_be_reached(refreshd):
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = CONNECT.format(port=server.getsockname()[1])
        for table, answer in [
            ("", "connected"), ('IPAddressDeny = "any"', "refused"),
            ('IPAddressDeny = "any"\nIPAddressAllow = ["127.0.0.0/8"]', "connected"),
        ]:
            refreshd.configure(app(command) + f"[sandbox]\n{table}\n")
            refreshd.systemctl("reload-or-restart", "refreshd.service")
            assert printed(refreshd) == answer, table


def test_resources_are_properties_of_the_unit_of_each_task(refreshd):
    gate = Gate("/run/gate.sandbox")
    table = """[sandbox]
MemoryMax = "64M"
MemoryHigh = "50%"
TasksMax = 16
CPUWeight = 20
IOWeight = 30
CPUQuota = "50%"
"""
    refreshd.configure(app(f"echo at work; read _ < {gate}") + table)
    refreshd.start()
    process = refreshd.run_in_background()
    names = ["MemoryMax", "TasksMax", "CPUWeight", "IOWeight", "CPUQuotaPerSecUSec"]
    answer = refreshd.systemctl("show", f"--property={','.join(names)}", "refreshd-task-*.service").stdout
    assert dict(line.split("=") for line in answer.split()) == {
        "MemoryMax": str(64 << 20), "TasksMax": "16", "CPUWeight": "20", "IOWeight": "30", "CPUQuotaPerSecUSec": "500ms",
    }
    high = refreshd.systemctl("show", "--value", "--property=MemoryHigh", "refreshd-task-*.service").stdout
    memory = int(pathlib.Path("/proc/meminfo").read_text().split()[1]) << 10
    assert abs(int(high) - memory / 2) < memory / 100
    gate.open()
    assert process.wait(30) == 0
    gate.close()


def test_a_mistake_is_refused_when_the_file_is_read(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    refreshd.configure(app("exit 0") + '[sandbox]\nMemoryMax = "plenty"\nUser = "root"\n')
    answer = refreshd.refreshctl("reload", check=False)
    assert answer.returncode != 0
    text = " ".join((answer.stdout + answer.stderr).split())
    assert '0.toml:8: sandbox.MemoryMax: cannot take "plenty" as a size' in text
    assert "0.toml:9: sandbox.User: cannot set User: it can give tasks more rights than the app's owner has" in text
    assert "not in force" in refreshd.show("StatusText")


def test_what_only_the_start_can_tell_is_told_with_the_key(refreshd):
    refreshd.configure(app("exit 0") + '[sandbox]\nReadOnlyPaths = "/nowhere"\n')
    refreshd.start()
    refreshd.refreshctl("run", TODO, check=False)
    cause = refreshd.history()[0]["cause"]["text"]
    assert cause.startswith("cannot start /bin/sh: the service manager cannot apply"), cause
    assert "path" in cause and "[sandbox]" in cause


def test_without_a_service_manager_nothing_runs_unprotected(refreshd):
    ran = pathlib.Path("/run/ran")
    refreshd.drop_in("[Service]\nEnvironment=DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere\n")
    refreshd.configure(app(f"touch {ran}", deadline="2s") + "[sandbox]\nNoNewPrivileges = true\n")
    refreshd.start()
    assert "system bus" in refreshd.call("Status")["status"]["launcher_problem"]
    refreshd.refreshctl("run", TODO, check=False)
    assert refreshd.history()[0]["outcome"] == "failed"
    assert not ran.exists()
