"""Random hostile input for the real programs. REFRESH_FUZZ_SECONDS bounds all of it, REFRESH_FUZZ_SEED chooses it.

The fixtures of the daemon are those of DaemonTests, the servers those of TransferTests.
"""

import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "DaemonTests"), str(TESTS / "TransferTests")]

from rounds import SECONDS, SEED  # noqa: E402
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")


def pytest_report_header(config):
    return f"fuzz: REFRESH_FUZZ_SECONDS={SECONDS} REFRESH_FUZZ_SEED={SEED}"


def pytest_collection_modifyitems(config, items):
    """A part may take twice its time to settle."""
    for item in items:
        item.add_marker(pytest.mark.bound(int(SECONDS * 2) + 240))
