"""Transfers of a real daemon and its workers with real servers (servers/).

The fixtures of the daemon are those of DaemonTests.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))

from servers.cable import cable  # noqa: E402, F401
from servers.fixtures import (  # noqa: E402, F401
    apache, certificates, misbehaving, misbehaving_tls, nginx, nginx_of_all, servers_directory, tus,
)  # fmt: skip
from daemon import LAUNCHER  # noqa: E402
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401
from transfers import Transfers  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")
    config.addinivalue_line("markers", "spawned: of workers and tasks that are the daemon's own children")


def pytest_collection_modifyitems(config, items):
    """Under systemd, deselects the tests of spawned workers and tasks."""
    if LAUNCHER == "systemd":
        items[:] = [item for item in items if not item.get_closest_marker("spawned")]


@pytest.fixture
def transfers(daemon):
    """The transfers of an app, in a folder of their own. The daemon is not started yet."""
    return Transfers(daemon)


@pytest.fixture
def running(transfers):
    """The transfers of an app of a running daemon."""
    transfers.daemon.start()
    return transfers
