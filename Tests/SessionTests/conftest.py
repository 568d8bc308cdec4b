"""The real daemon and the real refresh-session, with real compositors and X servers.

The fixtures of the daemon are those of DaemonTests. BIN_DIR names the folder of the programs.
"""

import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / "DaemonTests")]

from bus_desktops import Gnome, KWin  # noqa: E402
from desktop import USER, Desktop, Session, Sway, X11  # noqa: E402
from program import Program  # noqa: E402
from stage import bounded, daemon, scratch  # noqa: E402, F401


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the output of the programs and of the desktop of a failed test."""
    report = yield
    if report.failed:
        for program in item.funcargs.values():
            if isinstance(program, Program):
                report.sections.append((program.name, "\n".join(program.written()[-100:])))
            if isinstance(program, Desktop) and program.processes:
                # The first program is the desktop itself, or its bus; the last are windows.
                for process in program.processes[:3]:
                    process.log.seek(0)
                    said = process.log.read().decode(errors="replace").splitlines()
                    report.sections.append((str(process.args[0]), "\n".join(said[-30:])))
    return report


@pytest.fixture
def runtime(scratch):  # noqa: F811
    """The runtime folder of the user whose session it is."""
    folder = scratch / "run"
    folder.mkdir(mode=0o700)
    USER.own(folder)
    return folder


@pytest.fixture
def house(daemon):  # noqa: F811
    """A daemon with two apps of the user."""
    for name in ("mail", "todo"):
        daemon.app(
            "exit 100", id=f"org.example.{name}", owner=USER.name, directory="/", foreground_interval="1h",
            background_interval="2h", desktop=[name],
        )  # fmt: skip
    daemon.start()
    return daemon


@pytest.fixture
def sway(runtime):
    with Sway(runtime) as sway:
        yield sway


@pytest.fixture
def x11(runtime):
    with X11(runtime) as x11:
        yield x11


@pytest.fixture
def kwin(runtime):
    with KWin(runtime) as kwin:
        yield kwin


@pytest.fixture
def gnome(runtime):
    with Gnome(runtime) as gnome:
        yield gnome


@pytest.fixture
def session(house, runtime):
    session = Session(runtime, house.socket)
    yield session
    session.close()
