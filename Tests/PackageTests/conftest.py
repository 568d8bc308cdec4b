"""What an installation brings: manual pages, completions, Debian packages. The daemon's fixtures are those of DaemonTests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))

from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401


def pytest_configure(config):
    config.addinivalue_line("markers", "bound(seconds): the longest that the test may take")
