"""Descriptors in signals to the daemon alone: whoever closes the last one of a lingering socket waits as long as its owner likes."""

import pathlib
import subprocess
import time

from service import TODO, app

PASSING = pathlib.Path(__file__).with_name("passing.py")


def test_they_keep_nobody_waiting(refreshd, journal):
    """The bus may wait, which closes what it cannot deliver; the daemon answers, and later its refreshes go on."""
    refreshd.configure(app("echo at work; while [ ! -e /run/refreshd/end ]; do sleep 0.05; done"))
    refreshd.start()
    refreshd.run_in_background()
    passing = subprocess.Popen(
        ["/usr/bin/python3", PASSING, str(refreshd.main_pid)], user="nobody", stdout=subprocess.PIPE
    )
    try:
        assert passing.stdout.readline() == b"sent\n"
        for _ in range(20):
            begun = time.monotonic()
            refreshd.call("Status")
            assert time.monotonic() - begun < 5
    finally:
        # Its ends of the connections reset the sockets, and whoever waits goes on.
        passing.kill()
        passing.wait()
    pathlib.Path("/run/refreshd/end").touch()
    journal.wait("refreshFinished", REFRESH_APP=TODO)
    refreshd.refreshctl("run", TODO)
