"""What every test of a daemon stands on: a directory, the daemon, a bound, and what it said if the test fails."""

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
        report.sections.append(("refreshd", "\n".join(item.funcargs["daemon"].said)))
    return report
