"""The base of every test of a daemon: a folder, the daemon, a time limit, and the daemon's output after a failure."""

import faulthandler
import pathlib
import shutil
import signal
import tempfile

import pytest

from daemon import LAUNCHER, Daemon
from processes import end_all

# The time limit of one test, in seconds; the slowest test waits for a deadline and a grace period.
BOUND = 60


@pytest.fixture
def scratch():
    """A folder that every user may enter, with a path short enough for a socket."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="refreshd-"))
    directory.chmod(0o755)
    yield directory
    # A unit that was still starting when the daemon was killed may write into the folder later.
    shutil.rmtree(directory, ignore_errors=LAUNCHER == "systemd")


@pytest.fixture
def daemon(scratch):
    """A daemon that is not started yet. At the end, the daemon and all its processes are killed."""
    daemon = Daemon(scratch)
    yield daemon
    daemon.close()
    end_all(str(scratch))


@pytest.fixture(autouse=True)
def bounded(request):
    """Ends a test that hangs in spite of all timeouts."""

    marker = request.node.get_closest_marker("bound")
    bound = marker.args[0] if marker else BOUND

    def give_up(number, frame):
        faulthandler.dump_traceback()
        raise TimeoutError(f"{request.node.name} took more than {bound} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(bound)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and isinstance(item.funcargs.get("daemon"), Daemon):
        report.sections.append(("refreshd", "\n".join(item.funcargs["daemon"].written())))
    return report
