"""A real daemon process on a real socket. The client is not ours: it is the PyPI package `varlink`.

BIN_DIR names the folder of refreshd; the default is the debug build. No test sleeps: each waits for an event (a reply,
a notice, a line of a task or of the journal), and a timeout fails the test.
"""

import pathlib

from daemon import LAUNCHER
from preload import preload  # noqa: F401
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: F401
from wall import wall  # noqa: F401


def pytest_configure(config):
    config.addinivalue_line("markers", "spawned: of tasks that end with the daemon")
    config.addinivalue_line("markers", "bound(seconds): the time limit of a test")


# The test files about tasks, and so about launchers; the other tests do not depend on the launcher.
OF_TASKS = {
    f"test_{name}"
    for name in (
        "queries chains complete crash deadline drain environment intervals outcomes slots reload rest restart run "
        "signals staleness push ends ping"
    ).split()
}


assert OF_TASKS <= {path.stem for path in pathlib.Path(__file__).parent.glob("test_*.py")}


def pytest_collection_modifyitems(config, items):
    """Under systemd, deselects tests that do not run tasks, tests of spawned tasks only, and tests that need their own
    boot on a machine that may not set clocks."""
    if LAUNCHER == "systemd":
        items[:] = [
            item
            for item in items
            if item.module.__name__ in OF_TASKS
            and not item.get_closest_marker("spawned")
            and "machine" not in item.fixturenames
        ]
