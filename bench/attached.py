"""An app that refreshes itself with RefreshKit: how fast it answers, and what it takes while nothing happens."""

import os
import pty
import subprocess
from pathlib import Path

import measure
from refreshd import Refreshd

PERFORMS = 20_000


def round_trip_us(performer: Path, client: list[str], path: Path) -> float:
    """From `perform` to the completion, the median; performer.c asks, on one processor with its client."""
    with measure.pinned(os.getpid()):
        daemon = subprocess.Popen([str(performer), str(path), str(PERFORMS)], stdout=subprocess.PIPE, text=True)
        daemon.stdout.readline()  # it listens
        app = subprocess.Popen(client, env=dict(os.environ, REFRESH_SOCKET=str(path)), stdout=subprocess.DEVNULL)
        answer, _ = daemon.communicate(timeout=60)
        app.wait(timeout=60)
    path.unlink()
    if daemon.returncode != 0:
        raise RuntimeError(f"cannot measure {client[0]}: performer.c ended with status {daemon.returncode}")
    return float(answer.split()[0])


def memory_at_rest(program: Path, refreshd: Refreshd) -> int:
    """The resident set size in bytes of an app, in the foreground, after some refreshes of its own."""
    app = refreshd.apps[0]
    environment = dict(os.environ, REFRESH_SOCKET=str(refreshd.socket))
    terminal, its_end = pty.openpty()  # the window of the example, and not a pipe, to which it would write in blocks
    process = subprocess.Popen([str(program), app], env=environment, stdin=its_end, stdout=its_end)
    os.close(its_end)
    with open(terminal, "r+b", buffering=0) as window:
        said = b""
        while b"You look at it" not in said:  # attached, and in the foreground
            said += window.read(4096)
        for _ in range(10):
            refreshd.call("Manager.Run", app=app)
        held = measure.memory(process.pid, "Rss")
        window.write(b"\x04")  # Ctrl-D
        process.wait(timeout=10)
    refreshd.enter_foreground([app])  # where all apps of the bench are: with the lease it has left it
    return held
