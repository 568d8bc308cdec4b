"""`sandbox = "strict"` of an app's file confines what runs for the app, and nothing else."""

import os
import pathlib
import pwd
import shutil
import socket

import pytest

from service import TODO, app

FOLDER = pathlib.Path("/srv/sandbox")
OUTSIDE = ["/usr/probe", "/etc/probe", "/home/anna/probe", "/run/probe", "/srv/probe"]
PROBE = """
may() { name=$1; shift; "$@" > /dev/null 2>&1 && echo "$name"; }
python() { name=$1; shift; may "$name" /usr/bin/python3 -c "$@"; }
for file in %s /srv/sandbox/probe /tmp/probe; do may $file touch $file; done
may device test -e /dev/probe
may tmp test -e /tmp/secret
may mount mount -t tmpfs none /mnt
may namespace unshare --uts true
may kill kill -0 1
may swap swapoff /nowhere/but/known
python packet 'import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)'
python compile 'import mmap; mmap.mmap(-1, 4096, prot=7)'
python netlink 'import socket; socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)'
may read cat /srv/sandbox/secret
may network test $(readlink /proc/self/ns/net) = %s
grep ^NoNewPrivs: /proc/self/status | cut -f2
grep ^CapBnd: /proc/self/status | cut -f2
""" % (" ".join(OUTSIDE), os.readlink("/proc/self/ns/net"))


@pytest.fixture
def folder(anna):
    """A folder that all may write to, and files to look for."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    FOLDER.chmod(0o777)
    (FOLDER / "secret").write_text("secret\n")
    for path in (pathlib.Path("/tmp/secret"), pathlib.Path("/dev/probe")):
        path.touch()
    yield FOLDER
    for path in [*OUTSIDE, "/tmp/probe", "/tmp/secret", "/dev/probe"]:
        pathlib.Path(path).unlink(missing_ok=True)


def printed(refreshd, *options):
    """The words that the app's task prints."""
    lines = refreshd.refreshctl("run", TODO, *options).stdout.splitlines()
    return " ".join(line.removeprefix("work: ") for line in lines).split()


def reload(refreshd, *apps):
    refreshd.configure(*apps)
    refreshd.systemctl("reload-or-restart", "refreshd.service")


@pytest.mark.parametrize("owner", ["root", "anna"])
def test_a_strict_task_may_read_and_write_what_its_file_says_and_no_more(refreshd, folder, owner):
    reload(refreshd, app(PROBE, owner=owner))
    free = printed(refreshd)
    assert {"/srv/sandbox/probe", "/home/anna/probe", "device", "tmp", "read", "network", "0"} <= {*free}
    if owner == "root":
        assert {*OUTSIDE, "mount", "namespace", "packet"} <= {*free}
    for path in [*OUTSIDE, "/tmp/probe", folder / "probe"]:
        pathlib.Path(path).unlink(missing_ok=True)
    reload(refreshd, app(PROBE, owner=owner, sandbox="strict", writable=["/srv/sandbox", "~/missing"]))
    strict = printed(refreshd)
    no_capability = ["0000000000000000"]
    # A backup by root reads all files.
    capabilities = strict[-1:] if owner == "root" else no_capability
    assert strict == [
        "/srv/sandbox/probe", "/tmp/probe", *(["kill"] if owner == "root" else []), "compile", "netlink", "read",
        "network", "1", *capabilities,
    ]
    assert owner != "root" or capabilities != no_capability
    assert not pathlib.Path("/tmp/probe").exists()


def test_an_offline_task_reaches_no_network(refreshd):
    with socket.create_server(("127.0.0.1", 0)) as server:
        command = (
            f"/usr/bin/python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", {server.getsockname()[1]}), 2)' "
            "2> /dev/null && echo connected || echo refused"
        )
        for keys, answer in [({}, "connected"), ({"offline": True}, "refused")]:
            reload(refreshd, app(command, sandbox="strict", **keys))
            assert printed(refreshd) == [answer], keys


@pytest.mark.parametrize("sandbox", ["none", "strict"])
def test_memory_is_bounded(refreshd, sandbox):
    """It needs the memory controller: without it, systemd accepts the property and bounds nothing."""
    has_controller = "memory" in pathlib.Path("/sys/fs/cgroup/cgroup.controllers").read_text().split()
    fill = "/usr/bin/python3 -c 'bytearray(200_000_000)'" if has_controller else "echo no controller"
    command = f"{fill}; systemctl show --property=MemoryMax --value 'refreshd-task-*'"
    reload(refreshd, app(command, sandbox=sandbox, memory_max="32M"))
    refreshd.refreshctl("run", TODO, check=False)
    [refresh] = refreshd.history()
    if has_controller:
        assert refresh["cause"]["kind"] == "out_of_memory"
    else:
        assert refresh["tasks"][0]["message"] == str(32 << 20)


def test_a_task_has_files_fetched_into_its_folders_only(refreshd, folder, misbehaving, journal):
    """refresh-worker moves them in the sandbox of the app."""
    places = [folder / "file", pathlib.Path(pwd.getpwnam("anna").pw_dir) / "file"]
    command = "\n".join(
        f"refreshctl download {TODO} {misbehaving.url('plain', 1000)} --to {place} --network none"
        for place in places
    )
    refreshd.launch_by("systemd", 'settle = "0s"\n')
    refreshd.configure(app(command, owner="anna", deadline="1min", sandbox="strict", writable=[str(folder)]))
    refreshd.start()
    refreshd.refreshctl("run", TODO)
    journal.wait("transferEnded")
    journal.wait("transferRetried")
    assert [place.exists() for place in places] == [True, False]


def test_the_table_of_before_is_refused_with_both_ways(refreshd):
    refreshd.configure(app("exit 0"))
    refreshd.start()
    refreshd.configure(app("exit 0") + '[sandbox]\nProtectSystem = "strict"\n')
    answer = refreshd.refreshctl("reload", check=False)
    assert answer.returncode != 0
    text = " ".join((answer.stdout + answer.stderr).split())
    assert 'write sandbox = "strict" above' in text and 'unit = "NAME.service"' in text
    assert "was rejected" in refreshd.show("StatusText")


def test_a_sandbox_that_cannot_be_made_is_named(refreshd):
    refreshd.configure(app("exit 0", sandbox="strict", writable=["/etc/hostname/below"]))
    refreshd.start()
    refreshd.refreshctl("run", TODO, check=False)
    cause = refreshd.history()[0]["cause"]["text"]
    assert cause.startswith("cannot start /bin/sh: the service manager cannot make its sandbox (exit status 226"), cause


def test_without_a_service_manager_nothing_runs_unprotected(refreshd):
    ran = pathlib.Path("/run/ran")
    refreshd.drop_in("[Service]\nEnvironment=DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere\n")
    refreshd.configure(app(f"touch {ran}", deadline="2s", sandbox="strict", writable=["/run"]))
    refreshd.start()
    assert "system bus" in refreshd.call("Status")["status"]["launcher_problem"]
    refreshd.refreshctl("run", TODO, check=False)
    assert refreshd.history()[0]["outcome"] == "failed"
    assert not ran.exists()
