"""A journald that is stopped stops nothing but the journal, which says later what is missing."""

import os
import signal
import subprocess
import time

from service import TODO, app

PRINTS = [f"org.example.prints{number}" for number in range(5)]


def test_a_stopped_journald_holds_nobody_up(spawned, journal):
    spawned.configure(app("echo hello", id=TODO), *[app("seq 1 1000", id=id, deadline="2min") for id in PRINTS])
    spawned.start()
    journald = int(spawned.systemctl("show", "--value", "--property=MainPID", "systemd-journald.service").stdout)
    os.kill(journald, signal.SIGSTOP)
    try:
        clients = [subprocess.Popen(["refreshctl", "run", id], stdout=subprocess.DEVNULL) for id in PRINTS]
        assert [client.wait(timeout=60) for client in clients] == [0] * len(PRINTS)
        start = time.monotonic()
        for _ in range(20):
            spawned.call("Status")
        assert time.monotonic() - start < 10
        assert "hello" in spawned.refreshctl("run", TODO).stdout
    finally:
        os.kill(journald, signal.SIGCONT)
    end = time.monotonic() + 60
    while "journal entries are missing here" not in journal.text():
        assert time.monotonic() < end
        spawned.refreshctl("run", TODO)
    spawned.refreshctl("run", TODO)
    journal.wait("refreshFinished", REFRESH_APP=TODO)
