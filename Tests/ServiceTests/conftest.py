"""The service under a real systemd as PID 1, in the throwaway machine that Tests/with-systemd boots.

BIN_DIR names the folder of refreshd and refreshctl; the default is the debug build.
"""

import contextlib
import os
import pathlib
import select
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / folder) for folder in ("PushTests", "TransferTests", "DaemonTests")]

import stage  # noqa: E402
from journal import Journal  # noqa: E402
from mock import POLICY, Mock, busctl  # noqa: E402
from probe import Probe  # noqa: E402
from servers.misbehaving import Misbehaving  # noqa: E402
from service import Service, log_out  # noqa: E402
from stage import bounded  # noqa: E402, F401

stage.BOUND = 300  # A test may wait a minute for each of several events of a booted machine.

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN_DIR = pathlib.Path(os.environ.get("BIN_DIR", ROOT / ".build/debug"))


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")


def pytest_sessionstart(session):
    try:
        environment = pathlib.Path("/proc/1/environ").read_bytes()
    except PermissionError:
        environment = b""
    if b"container=with-systemd" not in environment:
        pytest.exit("cannot run on this machine's own systemd; run `Tests/run services`", returncode=1)


@pytest.fixture(scope="session")
def installed():
    """Installs the files of `make install` and of a package's scripts, and creates a user."""
    for program in ("refreshd", "refreshctl", "refresh-push", "refresh-session"):
        shutil.copy(BIN_DIR / program, "/usr/bin")
    os.makedirs("/usr/libexec/refreshd", exist_ok=True)
    shutil.copy(BIN_DIR / "refresh-worker", "/usr/libexec/refreshd")
    for folder in ("system", "user"):
        shutil.copytree(ROOT / "systemd" / folder, f"/usr/lib/systemd/{folder}", dirs_exist_ok=True)
    os.makedirs("/usr/lib/systemd/catalog", exist_ok=True)
    shutil.copy(ROOT / "systemd/refreshd.catalog", "/usr/lib/systemd/catalog")
    os.makedirs("/usr/share/man/man8", exist_ok=True)
    for page in ("refreshd.8", "refresh-push.8", "refresh-session.8"):
        with open(ROOT / f"packaging/man/{page}.scd") as source, open(f"/usr/share/man/man8/{page}", "w") as made:
            subprocess.run(["scdoc"], check=True, stdin=source, stdout=made)
    for command in (
        ["systemd-sysusers", *sorted((ROOT / "systemd/sysusers.d").iterdir())],
        ["journalctl", "--update-catalog"],
        ["useradd", "--create-home", "--shell", "/bin/sh", "anna"],
        ["systemctl", "daemon-reload"],
    ):
        subprocess.run(command, check=True, capture_output=True)


@pytest.fixture
def anna(installed):
    """The id of a user; nobody is logged in."""
    return int(subprocess.run(["id", "-u", "anna"], check=True, capture_output=True, text=True).stdout)


@contextlib.contextmanager
def fifo(path):
    """A new FIFO, open for both ends, so that neither waits for the other."""
    os.mkfifo(path)
    opened = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    try:
        yield opened
    finally:
        os.close(opened)


@pytest.fixture
def log_in(tmp_path):
    """Opens a session for a user, as a login does, and returns the unit to stop for its end."""
    units = []

    def start(user, kind="user", type="tty"):
        unit = f"session-{len(units)}"
        command = ["systemd-run", "--quiet", "--collect", f"--unit={unit}", f"--uid={user}", "--property=PAMName=login"]
        with fifo(tmp_path / unit) as opened:
            subprocess.run(
                [*command, f"--setenv=XDG_SESSION_CLASS={kind}", f"--setenv=XDG_SESSION_TYPE={type}",
                 f"--property=StandardOutput=file:{tmp_path / unit}",
                 "sh", "-c", "echo; exec sleep infinity"], check=True, timeout=60,
            )  # fmt: skip
            units.append(unit)
            # systemd answers before PAM has opened the session; the program runs after that.
            assert select.select([opened], [], [], 60)[0], f"no session of {user} after 60 s"
        return unit

    yield start
    for unit in units:
        log_out(unit)


@pytest.fixture
def journal():
    """The journal from this moment on."""
    return Journal()


@pytest.fixture
def refreshd(installed, journal):
    """The service, stopped, without configuration, state or drop-ins."""
    service = Service(journal)
    if service.has_files():
        service.clear()
    yield service
    service.clear()


@pytest.fixture
def spawned(refreshd):
    """The service with the launcher that starts tasks as its children."""
    refreshd.launch_by("spawn")
    return refreshd


@pytest.fixture(params=["systemd", "spawn"])
def either(request, refreshd):
    """The service, with one launcher and then with the other: tests must see the same behaviour."""
    refreshd.launch_by(request.param)
    refreshd.launcher = request.param
    return refreshd


@pytest.fixture
def probe():
    """Starts conditions-probe with these facts and options."""
    probes = []

    def start(*arguments, **options):
        probes.append(Probe(BIN_DIR / "conditions-probe", *arguments, **options))
        return probes[-1]

    yield start
    for probe in probes:
        probe.stop()


@pytest.fixture(scope="session")
def bus_policy():
    """Lets root own every name on the system bus, and lets everybody call it."""
    pathlib.Path("/etc/dbus-1/system.d/mock.conf").write_text(POLICY)
    busctl("call", "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ReloadConfig")


@pytest.fixture
def bus():
    """Takes the system bus away, and brings it back."""

    def take(action):
        command = ["systemctl", action, "dbus.socket", "dbus.service"]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    yield take
    take("start")
    # It does not reconnect to a bus by itself, and other tests call it.
    subprocess.run(["systemctl", "restart", "systemd-logind.service"], check=True, capture_output=True, timeout=60)


@pytest.fixture
def mock(bus_policy):
    """Starts a service in place of another service."""
    mocks = []

    def start(*arguments):
        mocks.append(Mock(*arguments).start())
        return mocks[-1]

    yield start
    for mock in mocks:
        mock.stop()


@pytest.fixture
def misbehaving():
    """A file server that a test can block."""
    server = Misbehaving()
    yield server
    server.close()


@pytest.fixture
def network_manager(mock):
    return mock("networkmanager", "org.freedesktop.NetworkManager", "/org/freedesktop/NetworkManager")


@pytest.fixture
def upower(mock):
    return mock("upower", "org.freedesktop.UPower", "/org/freedesktop/UPower")


@pytest.fixture
def sleepless():
    """A machine that goes through all of a suspend except the sleep itself."""
    power = pathlib.Path("/run/fakepower")
    power.mkdir(exist_ok=True)
    (power / "state").write_text("freeze mem disk\n")
    (power / "mem_sleep").write_text("s2idle [deep]\n")
    subprocess.run(["mount", "--bind", power, "/sys/power"], check=True)
    folder = pathlib.Path("/run/systemd/system/systemd-suspend.service.d")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "fake.conf").write_text("[Service]\nExecStart=\nExecStart=/bin/sleep 0.2\n")
    subprocess.run(["systemctl", "daemon-reload"], check=True, timeout=60)
    yield
    subprocess.run(["umount", "/sys/power"], check=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and "journal" in item.fixturenames and "journal" in item.funcargs:
        report.sections.append(("journal", item.funcargs["journal"].text()))
    return report
