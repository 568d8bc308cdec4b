"""Transfers of a real daemon and its workers with real servers (servers/). The daemon and what waits for it are those of
DaemonTests."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))

from servers.fixtures import (  # noqa: E402, F401
    apache, certificates, misbehaving, nginx, nginx_of_all, servers_directory, tus,
)  # fmt: skip
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: E402, F401
