"""Transfers of a real daemon and its workers with real servers (servers/).

The daemon and what waits for it are those of DaemonTests.
"""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))

from servers.fixtures import (  # noqa: E402, F401
    apache, certificates, misbehaving, nginx, nginx_of_all, servers_directory, tus,
)  # fmt: skip
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401
from transfers import Transfers  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")


@pytest.fixture
def transfers(daemon):
    """The transfers of an app of a daemon that is not started yet, in a folder of their own."""
    return Transfers(daemon)


@pytest.fixture
def running(transfers):
    """The transfers of an app of a daemon that runs."""
    transfers.daemon.start()
    return transfers
