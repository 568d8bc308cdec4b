"""Leases: signals that last as long as a connection."""

import subprocess
import sys

import pytest
import varlink

from client import fails
from daemon import MAIL, TODO, finished
from processes import wait_for_end

# Holds a lease in its own process, and reports when it has the lease.
HOLDER = """
import sys, varlink
connection = varlink.Client(address="unix:" + sys.argv[1]).open("org.refreshd.App")
for answer in connection.Signal(app=sys.argv[2], signal="foreground", lease=True, _more=True):
    print(answer["phase"], flush=True)
"""


def hold(daemon, app=TODO):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(daemon.socket), app], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout.readline() == "foreground\n"
    return holder


def test_a_lease_breaks_with_the_process_that_holds_it(daemon):
    """A process that is killed cannot send `background`; the app is in the background all the same."""
    daemon.app("exit 100", foreground_interval="1h", background_interval="2h")
    daemon.start()
    daemon.refresh()
    with hold(daemon) as holder:
        foreground = daemon.show()
        holder.kill()
        wait_for_end(holder.pid)
    daemon.wait_for_output("now in the background")
    background = daemon.show()
    assert (foreground["phase"], background["phase"]) == ("foreground", "background")
    assert background["due_us"] - foreground["due_us"] == 3_600_000_000


def test_a_lease_ends_with_its_connection(daemon):
    daemon.app("exit 100")
    daemon.start()
    lease = daemon.lease("foreground")
    assert lease.first == {"phase": "foreground"}
    lease.close()
    daemon.wait_for_output("now in the background")
    assert daemon.show()["phase"] == "background"


def test_an_app_is_in_the_foreground_as_long_as_one_lease_holds(daemon):
    """Each lease undoes its own signal only, independent of other signals."""
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    first, second, other = daemon.lease("foreground"), daemon.lease("foreground"), daemon.lease("foreground", MAIL)
    first.close()
    other.close()
    daemon.wait_for_output(f"{MAIL}: now in the background")
    assert daemon.show()["phase"] == "foreground"
    assert daemon.tell("background") == "foreground"
    second.close()
    daemon.wait_for_output(f"{TODO}: now in the background")


def test_a_signal_without_lease_outlives_one_with(daemon):
    daemon.app("exit 100")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    lease, mark = daemon.lease("foreground"), daemon.lease("foreground", MAIL)
    daemon.tell("foreground")
    lease.close()
    mark.close()
    daemon.wait_for_output(f"{MAIL}: now in the background")
    assert daemon.show()["phase"] == "foreground"


def test_a_lease_of_launched_is_in_the_background(daemon):
    daemon.app("exit 100")
    daemon.start()
    assert daemon.lease("launched").first == {"phase": "background"}


def test_a_leased_entry_refreshes_stale_data_once(daemon):
    events = daemon.pipe("events")
    daemon.app(f"echo $REFRESH_TRIGGER > {events}", foreground_interval="1h")
    daemon.start()
    daemon.lease("foreground")
    daemon.lease("foreground")
    assert events.line() == "foreground"
    daemon.wait_for_output("finished")
    daemon.settle()
    assert [refresh["trigger"] for refresh in daemon.history()] == ["foreground"]


@pytest.mark.parametrize("signal", ["background", "terminated", "login", "logout"])
def test_what_cannot_be_undone_cannot_be_leased(daemon, signal):
    daemon.app("exit 100")
    daemon.start()
    with fails("org.refreshd.App.NotLeasable", signal=signal):
        daemon.lease(signal)
    assert daemon.show()["phase"] == "background"


def test_a_lease_needs_more(daemon):
    daemon.app("exit 100")
    daemon.start()
    with fails("org.varlink.service.ExpectedMore"):
        daemon.call("App.Signal", app=TODO, signal="foreground", lease=True)
    assert daemon.show()["phase"] == "background"


def test_app_and_lease_are_told_five_seconds_before_the_deadline(daemon):
    """SIGURG warns the task, a notice warns the holder of a lease; a lease on another app gets nothing."""
    events = daemon.pipe("events")
    daemon.app(f"trap 'echo urged > {events}; exit 0' URG; while :; do sleep 0.1; done", deadline="6s")
    daemon.app("exit 100", id=MAIL)
    daemon.start()
    lease, other = daemon.lease("launched"), daemon.lease("launched", MAIL)
    stream = daemon.run()
    first = next(lease)
    assert events.line() == "urged"
    refresh = finished(stream)
    assert first == {
        "phase": "background",
        "notice": {
            "kind": "expiring",
            "refresh": "1-1",
            "deadline_us": pytest.approx(refresh["started_us"] + 6_000_000, abs=2_000_000),
        },
    }
    assert 1_000_000 <= refresh["duration_us"] < 4_000_000
    assert refresh["outcome"] == "new_data"
    daemon.stop()
    with pytest.raises((varlink.VarlinkError, OSError, StopIteration)):
        next(other)
