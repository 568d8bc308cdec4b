"""Background transfers of the service: for a user, by either launcher, over a network that becomes metered."""

import json
import pathlib
import pwd
import select
import shutil
import signal
import subprocess
import time

import pytest

from servers.body import Body
from service import TODO, app

SIZE = 4_000_000
THERE = 3_000_000
WORKER = b"/usr/libexec/refreshd/refresh-worker"


@pytest.fixture
def folder(anna):
    """A folder of anna's, with nothing in it."""
    folder = pathlib.Path(pwd.getpwnam("anna").pw_dir) / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.chown(folder, "anna", "anna")
    return folder


@pytest.fixture
def service(either, folder):
    """The service with an app of anna's, which records the reports about its transfers."""
    either.launch_by(either.launcher, 'settle = "0s"\n')
    either.configure(app(f"echo $REFRESH_TRIGGER $REFRESH_SESSION; cat >> {folder}/told", owner="anna"))
    either.start()
    return either


def download(service, url, folder, *options):
    service.refreshctl("download", TODO, url, "--to", str(folder / "file"), *options)


def shown(service):
    return json.loads(service.refreshctl("transfers", "--json").stdout)["transfers"][0]


def wait_for_end(service, id=1):
    """Waits until a transfer has ended, and returns it."""
    command = ["refreshctl", "transfers", "--watch", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as watching:
        for line in watching.stdout:
            for transfer in json.loads(line)["transfers"]:
                if (transfer["id"], transfer["state"]) == (id, "ended"):
                    watching.terminate()
                    return transfer
    raise AssertionError("the daemon ended")


def delivered(folder, journal):
    """Waits for the report about the app's transfers, and returns its lines."""
    journal.wait("refreshFinished", REFRESH_APP=TODO, REFRESH_TRIGGER="transfer")
    return [json.loads(line) for line in (folder / "told").read_text().splitlines()]


def test_a_metered_network_stops_a_transfer_and_it_goes_on_where_it_was(
    network_manager, service, folder, misbehaving, journal
):
    download(service, misbehaving.url("plain", SIZE, hold=THERE), folder)
    for times in (1, 2, 3):
        asked = misbehaving.wait_until_held("plain", times)
        before = time.monotonic()
        network_manager.set(Metered=("u", 1))
        misbehaving.wait_for_end(asked)
        assert asked.ended - before < 15
        network_manager.set(Metered=("u", 2))
    misbehaving.wait_until_held("plain", 4)
    misbehaving.let_go()
    assert wait_for_end(service)["result"] == "done"
    assert Body(SIZE).is_in(folder / "file") and (folder / "file").owner() == "anna"
    assert [(one.start, one.sent) for one in misbehaving.of("plain")] == [
        (None, THERE), (THERE, 0), (THERE, 0), (THERE, SIZE - THERE),
    ]
    assert [line["outcome"] for line in delivered(folder, journal)] == ["done"]


@pytest.fixture
def metered(network_manager):
    network_manager.set(Metered=("u", 1))


def test_a_transfer_waits_for_an_unmetered_network_and_says_so(
    metered, service, folder, network_manager, misbehaving, journal
):
    journal.wait("daemonReady")
    download(service, misbehaving.url("plain", SIZE), folder)
    waiting = shown(service)
    assert (waiting["state"], [hold["name"] for hold in waiting["holds"]]) == ("waiting", ["network"])
    assert "held: network" in service.refreshctl("transfers").stdout
    service.refreshctl(
        "download", TODO, misbehaving.url("chunked", SIZE), "--to", f"{folder}/any", "--network", "any", "--wait")
    assert Body(SIZE).is_in(folder / "any") and misbehaving.of("plain") == []
    network_manager.set(Metered=("u", 2))
    assert wait_for_end(service)["result"] == "done"


def test_a_restart_of_the_service_goes_on_where_it_was_and_wakes_once(service, folder, misbehaving, journal):
    download(service, misbehaving.url("plain", SIZE, hold=THERE), folder, "--network", "none")
    misbehaving.wait_until_held("plain")
    service.systemctl("restart", "refreshd.service")
    misbehaving.let_go()
    assert wait_for_end(service)["result"] == "done"
    assert Body(SIZE).is_in(folder / "file")
    assert [one.start for one in misbehaving.of("plain")] == [None, THERE]
    assert len(delivered(folder, journal)) == 1
    service.systemctl("restart", "refreshd.service")
    service.refreshctl("run", TODO)
    assert len((folder / "told").read_text().splitlines()) == 1


def test_a_worker_has_no_privileges_and_none_can_read_its_memory(service, folder, misbehaving):
    download(service, misbehaving.url("plain", SIZE, hold=THERE), folder, "--network", "none")
    misbehaving.wait_until_held("plain")
    pids = subprocess.run(["pgrep", "--full", "refresh-worker transfer"], capture_output=True, text=True).stdout.split()
    assert len(pids) == 1
    status = dict(
        line.split(":\t") for line in pathlib.Path(f"/proc/{pids[0]}/status").read_text().splitlines() if ":\t" in line
    )
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert status["NoNewPrivs"] == "1"
    assert set(status["Uid"].split()) == {str(pwd.getpwnam("anna").pw_uid)}
    assert pathlib.Path(f"/proc/{pids[0]}/mem").owner() == "root"
    misbehaving.let_go()
    wait_for_end(service)


def score(unit):
    """The exposure by systemd-analyze, in tenths; 100 is a service without any restriction."""
    answer = subprocess.run(
        ["systemd-analyze", "security", "--json=short", "--threshold=30", unit],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return answer.returncode == 0, [row for row in json.loads(answer.stdout) if float(row["exposure"] or 0) >= 0.2]


def worker_unit(work="transfers"):
    """The unit in which refresh-worker does this, by the end of its description."""
    units = subprocess.run(
        ["systemctl", "list-units", "--plain", "--no-legend", "refreshd-task-*.service"], capture_output=True, text=True)
    found = [line.split()[0] for line in units.stdout.splitlines() if line.rstrip().endswith(f": {work}")]
    assert len(found) == 1, units.stdout
    return found[0]


def succeeds(unit, *command):
    """Whether a command succeeds for anna in a unit's view of the file system."""
    pid = subprocess.run(["systemctl", "show", "-P", "MainPID", unit], capture_output=True, text=True).stdout.strip()
    inside = ["nsenter", f"--target={pid}", "--mount", "setpriv", "--reuid=anna", "--clear-groups", *command]
    return subprocess.run(inside, capture_output=True).returncode == 0


def writes(unit, path):
    """Whether anna's process in a unit may make a file."""
    return succeeds(unit, "touch", path)


def test_a_worker_is_confined_to_the_folder_of_its_targets(service, folder, misbehaving):
    if service.launcher != "systemd":
        pytest.skip("a spawned worker has no unit")
    other = folder.parent / "other"
    other.mkdir(exist_ok=True)
    shutil.chown(other, "anna", "anna")
    download(service, misbehaving.url("plain", SIZE, hold=THERE), folder, "--network", "none")
    misbehaving.wait_until_held("plain")
    unit = worker_unit()
    is_safe, rows = score(unit)
    assert is_safe, rows
    assert writes(unit, folder / "probe")
    assert not writes(unit, other / "probe") and not writes(unit, folder.parent / "probe")
    shown = subprocess.run(["systemctl", "show", unit], capture_output=True, text=True).stdout.splitlines()
    for line in ("NoNewPrivileges=yes", "PrivateDevices=yes", "ProtectSystem=strict", f"MemoryMax={256 << 20}"):
        assert line in shown
    # A target in another folder has a worker of its own.
    service.refreshctl(
        "download", TODO, misbehaving.url("chunked", SIZE), "--to", str(other / "file"), "--network", "none", "--wait")
    assert Body(SIZE).is_in(other / "file")
    misbehaving.let_go()
    assert wait_for_end(service)["result"] == "done"


def test_the_task_http_is_confined_to_the_folder_of_its_file(either, folder, misbehaving, journal):
    if either.launcher != "systemd":
        pytest.skip("a spawned task has no unit")
    other = folder.parent / "other"
    other.mkdir(exist_ok=True)
    shutil.chown(other, "anna", "anna")
    either.launch_by(either.launcher, 'settle = "0s"\n')
    url = misbehaving.url("plain", SIZE, hold=THERE)
    either.configure(
        f'id = "{TODO}"\nowner = "anna"\nbackground_interval = "never"\nnetwork = "none"\n'
        f'[[task]]\nhttp = {{ url = "{url}", to = "{folder}/feed" }}\n'
    )
    either.start()
    running = subprocess.Popen(["refreshctl", "run", TODO], stdout=subprocess.DEVNULL)
    misbehaving.wait_until_held("plain")
    units = subprocess.run(
        ["systemctl", "list-units", "--plain", "--no-legend", "refreshd-task-*.service"], capture_output=True, text=True)
    (unit,) = [line.split()[0] for line in units.stdout.splitlines()]
    is_safe, rows = score(unit)
    assert is_safe, rows
    assert writes(unit, folder / "probe")
    assert not writes(unit, other / "probe") and not writes(unit, folder.parent / "probe")
    assert "unconfined" not in either.call("Status")["status"]
    misbehaving.let_go()
    running.wait(timeout=60)
    assert Body(SIZE).is_in(folder / "feed")


def test_credentials_come_from_the_owners_netrc(service, folder, misbehaving):
    netrc = folder.parent / ".netrc"
    netrc.write_text("machine 127.0.0.1 login ann password secret\n")
    netrc.chmod(0o600)
    shutil.chown(netrc, "anna", "anna")
    download(service, misbehaving.url("cut", SIZE, needs="ann:secret"), folder, "--network", "none", "--netrc")
    assert wait_for_end(service)["result"] == "done"
    assert Body(SIZE).is_in(folder / "file")
    netrc.unlink()
    service.refreshctl("download", TODO, misbehaving.url("plain", SIZE, needs="ann:secret"), "--to", f"{folder}/other",
                       "--network", "none", "--netrc")  # fmt: skip
    assert f"cannot read {netrc}" in wait_for_end(service, 2)["message"]


@pytest.fixture
def shower(anna, log_in):
    """The process that shows notifications on anna's desktop: it prints them."""
    log_in("anna")
    # It is active once her session bus exists.
    subprocess.run(["systemctl", "start", f"user@{anna}.service"], check=True, timeout=60)
    bus = f"/run/user/{anna}/bus"
    command = ["/usr/bin/python3", pathlib.Path(__file__).parent / "mocks/notifications.py"]
    shower = subprocess.Popen(
        ["setpriv", "--reuid=anna", "--regid=anna", "--init-groups", *command],
        env={"DBUS_SESSION_BUS_ADDRESS": f"unix:path={bus}", "PATH": "/usr/bin"}, stdout=subprocess.PIPE, text=True,
    )
    yield shower
    shower.kill()
    shower.wait()


@pytest.fixture
def desktop(shower):
    """Reads the notifications on anna's desktop, in order."""

    def read():
        readable, _, _ = select.select([shower.stdout], [], [], 30)
        assert readable, "the desktop was delivered nothing within 30 s"
        return json.loads(shower.stdout.readline())

    assert read() == "ready"
    return read


def test_the_desktop_is_told_when_a_session_has_ended_and_once(desktop, service, folder, misbehaving, journal):
    for mode in ("plain", "chunked"):
        service.refreshctl(
            "download", TODO, misbehaving.url(mode, SIZE, hold=THERE), "--to", f"{folder}/{mode}",
            "--network", "none", "--notify", "Your songs are there",
        )  # fmt: skip
    misbehaving.wait_until_held("plain")
    misbehaving.let_go()
    wait_for_end(service, 2)
    delivered(folder, journal)
    heard = desktop()
    assert "Your songs are there" in (heard["summary"], heard["body"])
    service.refreshctl(
        "download", TODO, misbehaving.url("cut", SIZE), "--to", f"{folder}/cut",
        "--network", "none", "--notify", "Another",
    )  # fmt: skip
    assert "Another" in desktop().values()


def test_what_shows_a_notice_is_confined_and_writes_nowhere(desktop, shower, service, folder, misbehaving, journal):
    if service.launcher != "systemd":
        pytest.skip("a spawned worker has no unit")
    probe = pathlib.Path("/dev/probe")
    probe.touch()
    download(service, misbehaving.url("plain", SIZE, hold=THERE), folder, "--network", "none", "--notify", "There")
    misbehaving.wait_until_held("plain")
    # The desktop does not answer, so that the worker is there to be looked at.
    shower.send_signal(signal.SIGSTOP)
    misbehaving.let_go()
    wait_for_end(service)
    delivered(folder, journal)
    unit = worker_unit("desktop notification")
    is_safe, rows = score(unit)
    assert is_safe, rows
    shown = subprocess.run(["systemctl", "show", unit], capture_output=True, text=True).stdout.splitlines()
    for line in (
        "NoNewPrivileges=yes", "PrivateDevices=yes", "ProtectSystem=strict", "ProtectHome=read-only",
        f"MemoryMax={256 << 20}", "TasksMax=64", "User=anna",
    ):  # fmt: skip
        assert line in shown, line
    assert not [line for line in shown if line.startswith("ReadWritePaths=") and line != "ReadWritePaths="]
    [pid] = [line.split("=")[1] for line in shown if line.startswith("MainPID=")]
    assert pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[:2] == [WORKER, b"notify"]
    status = dict(line.split(":\t") for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    assert (status["NoNewPrivs"], status["Seccomp"], int(status["CapBnd"], 16)) == ("1", "2", 0)
    assert succeeds(unit, "test", "-e", "/dev/null") and not succeeds(unit, "test", "-e", probe)
    for path in folder, folder.parent, "/tmp", "/var/tmp", f"/run/user/{pwd.getpwnam('anna').pw_uid}":
        assert not writes(unit, f"{path}/probe"), path
    shower.send_signal(signal.SIGCONT)
    assert "There" in desktop().values()
    probe.unlink()
