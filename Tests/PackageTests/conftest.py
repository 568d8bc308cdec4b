"""An installation brings manual pages, completions, Debian packages. DaemonTests has the daemon's fixtures."""

import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "DaemonTests"))
sys.path[1:1] = [str(TESTS / "PushTests"), str(TESTS / "TransferTests")]
sys.path.append(str(TESTS / "ServiceTests"))

from dpkg import BRIDGE, DAEMON, SESSION, may_start_services, purge, with_lower_version  # noqa: E402
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")


@pytest.fixture
def before(tmp_path):
    """Packages of an older release, which are not installed yet."""
    may_start_services()
    tmp_path.chmod(0o755)
    yield with_lower_version([*DAEMON, *BRIDGE, *SESSION], tmp_path)
    purge()
