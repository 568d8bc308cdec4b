"""A real daemon process over a real socket, asked by a client that is not ours: the PyPI package `varlink`.

BIN_DIR says where refreshd is; the default is the debug build. Nothing here sleeps: a test waits for what it expects
(an answer, a notice, a line of a task or of the journal), and each wait has a bound that fails the test.
"""

import faulthandler
import pathlib
import shutil
import signal
import tempfile

import pytest

from daemon import LAUNCHER, Daemon
from processes import end_all

# The longest that one test may take, in seconds; the slowest waits for a deadline and a grace.
BOUND = 60


def pytest_configure(config):
    config.addinivalue_line("markers", "spawned: of tasks that end with the daemon")


# What is about tasks, and so about what starts them; the rest is the same however they are started.
OF_TASKS = {
    f"test_{name}"
    for name in (
        "asking chains complete crash deadline drain environment intervals outcomes places reload rest restart run "
        "signals staleness"
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


@pytest.fixture
def scratch():
    """A directory that every user may enter, with a path short enough for a socket."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="refreshd-"))
    directory.chmod(0o755)
    yield directory
    # A unit that was only being started when the daemon was killed may still write into it.
    shutil.rmtree(directory, ignore_errors=LAUNCHER == "systemd")


@pytest.fixture
def daemon(scratch):
    """A daemon that is not started yet; in the end neither it nor anything that it started is left."""
    daemon = Daemon(scratch)
    yield daemon
    daemon.close()
    end_all(str(scratch))


@pytest.fixture(autouse=True)
def bounded(request):
    """Ends a test that hangs in spite of all bounds."""

    def give_up(number, frame):
        faulthandler.dump_traceback()
        raise TimeoutError(f"{request.node.name} took more than {BOUND} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(BOUND)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and isinstance(item.funcargs.get("daemon"), Daemon):
        report.sections.append(("refreshd", "\n".join(item.funcargs["daemon"].said)))
    return report
