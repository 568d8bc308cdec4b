"""The real daemon and the real bridge, with servers that send messages to apps (servers/).

The fixtures of the daemon are those of DaemonTests. BIN_DIR names the folder of the programs.
"""

import os
import pathlib
import shutil
import sys
import tempfile

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / "TransferTests"), str(TESTS / "DaemonTests")]

from bridge import App, Bridge  # noqa: E402
from daemon import HURRY  # noqa: E402
from program import Program  # noqa: E402
from servers.broker import Broker  # noqa: E402
from servers.cable import cable  # noqa: E402, F401
from servers.certificates import Certificates  # noqa: E402
from servers.nchan import Nchan  # noqa: E402
from servers.ntfy import Ntfy  # noqa: E402
from stage import bounded, daemon, scratch  # noqa: E402, F401


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")
    config.addinivalue_line("markers", "spawned: of tasks that are the daemon's own children")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows the output of the programs of a failed test."""
    report = yield
    if report.failed:
        for program in item.funcargs.values():
            if isinstance(program, Program):
                report.sections.append((program.name, "\n".join(program.written()[-100:])))
    return report


@pytest.fixture
def bridge(daemon):  # noqa: F811
    """A bridge that is not started yet. Its servers are on this machine and need no network."""
    bridge = Bridge(daemon)
    daemon.configure(HURRY + '[push]\nnetwork = "none"\n')
    yield bridge
    bridge.close()


@pytest.fixture
def app(daemon):  # noqa: F811
    """An app that records its payloads."""
    return App(daemon)


@pytest.fixture(scope="session")
def servers_directory():
    """A folder that every user may enter, with a path short enough for a socket."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="refreshd-servers-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


@pytest.fixture(scope="session")
def certificates(servers_directory):
    return Certificates(servers_directory / "certificates")


@pytest.fixture
def broker(scratch, certificates):  # noqa: F811
    """A running broker without clients."""
    broker = Broker(scratch / "broker", certificates)
    broker.start()
    yield broker
    broker.close()


@pytest.fixture
def nchan(scratch, certificates):  # noqa: F811
    server = Nchan(scratch / "nchan", certificates, os.geteuid() == 0)
    yield server
    server.close()


@pytest.fixture
def ntfy(certificates):
    server = Ntfy(certificates)
    yield server
    server.close()
