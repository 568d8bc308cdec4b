"""Faults of the real daemon, and a neighbour who must not notice them.

The fixtures of the daemon are those of DaemonTests. The bounds are those of a release build on an idle machine, times
REFRESHD_CHAOS_SLACK (20, because `make test` runs debug builds beside other tests; `make chaos` sets 1).
"""

import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[1:1] = [str(TESTS / "DaemonTests"), str(TESTS / "PushTests")]

from preload import preload  # noqa: E402, F401
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401
from stand import Stand  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")


def pytest_collection_modifyitems(config, items):
    if os.geteuid() != 0:
        for item in items:
            item.add_marker(pytest.mark.skip(reason="only root may become another user"))


@pytest.fixture
def stand(daemon):
    return Stand(daemon)
