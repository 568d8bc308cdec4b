"""A real daemon process over a real socket, asked by a client that is not ours: the PyPI package `varlink`.

BIN_DIR says where refreshd is; the default is the debug build. Nothing here sleeps: a test waits for what it expects
(an answer, a notice, a line of a task or of the journal), and each wait has a bound that fails the test.
"""

from daemon import LAUNCHER
from stage import bounded, daemon, pytest_runtest_makereport, scratch  # noqa: F401


def pytest_configure(config):
    config.addinivalue_line("markers", "spawned: of tasks that end with the daemon")


# What is about tasks, and so about what starts them; the rest is the same however they are started.
OF_TASKS = {
    f"test_{name}"
    for name in (
        "asking chains complete crash deadline drain environment intervals outcomes places reload rest restart run "
        "signals staleness push"
    ).split()
}


def pytest_collection_modifyitems(config, items):
    """Under systemd, leaves out what is not about tasks or is of spawned tasks only, and machines with a boot of their
    own in a machine that may not set clocks."""
    if LAUNCHER == "systemd":
        items[:] = [
            item
            for item in items
            if item.module.__name__ in OF_TASKS
            and not item.get_closest_marker("spawned")
            and "machine" not in item.fixturenames
        ]
