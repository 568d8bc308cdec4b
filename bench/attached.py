"""An app that refreshes itself with RefreshKit: its response time, and its memory at rest."""

import os
import pty
import select
import subprocess
from pathlib import Path

import measure
from refreshd import Refreshd

PERFORMS = 20_000


def round_trip_us(performer: Path, client: list[str], path: Path) -> float:
    """The median from `perform` to the completion; performer.c asks, on one processor with its client."""
    with measure.pinned(os.getpid()):
        daemon = subprocess.Popen([str(performer), str(path), str(PERFORMS)], stdout=subprocess.PIPE, text=True)
        daemon.stdout.readline()  # the performer listens
        app = subprocess.Popen(client, env=dict(os.environ, REFRESH_SOCKET=str(path)), stdout=subprocess.DEVNULL)
        try:
            answer, _ = daemon.communicate(timeout=60)
            app.wait(timeout=60)
        finally:
            for process in (daemon, app):
                process.kill()
                process.wait()
            path.unlink(missing_ok=True)
    if daemon.returncode != 0:
        raise RuntimeError(f"cannot measure {client[0]}: performer.c ended with status {daemon.returncode}")
    return float(answer.split()[0])


def memory_at_rest(program: Path, refreshd: Refreshd) -> int:
    """The resident set size in bytes of an app in the foreground, after ten refreshes."""
    app = refreshd.apps[0]
    environment = dict(os.environ, REFRESH_SOCKET=str(refreshd.socket))
    terminal, its_end = pty.openpty()  # a terminal, because the example would write to a pipe in blocks
    process = subprocess.Popen([str(program), app], env=environment, stdin=its_end, stdout=its_end)
    os.close(its_end)
    try:
        with open(terminal, "r+b", buffering=0) as window:
            said = b""
            while b"You look at it" not in said:  # attached, and in the foreground
                if not select.select([window], [], [], 30)[0]:
                    raise RuntimeError(f"cannot measure {program.name}: it did not attach in 30 s")
                said += window.read(4096)
            for _ in range(10):
                refreshd.call("Manager.Run", app=app)
            held = measure.memory(process.pid).rss
            window.write(b"\x04")  # Ctrl-D
            process.wait(timeout=30)
    finally:
        process.kill()
        process.wait()
    # The end of the lease took the app out of the foreground, where all apps of the bench are.
    refreshd.enter_foreground([app])
    return held
