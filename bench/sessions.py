"""Measures refresh-session with sway: `make bench`, or

    sessions.py --programs DIR

DIR has refreshd and refresh-session of a release build. Windows of foot take turns in the focus.

- PSS: refresh-session at rest, with 100 apps to look out for and two windows.
- wakes: its voluntary context switches in a minute without an event.
- phase: from the order to focus another window to the daemon's event, less the 500 ms of dwell.
- CPU: its processor time for 1,000 changes of focus in a minute, as a share of one processor.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ROUNDS, CHANGES, PAUSE = 100, 1000, 0.06
DWELL = 0.5


def figures(process):
    """PSS in kB, voluntary context switches and processor time in seconds."""
    rollup = Path(f"/proc/{process}/smaps_rollup").read_text().split("Pss:")[1]
    status = Path(f"/proc/{process}/status").read_text().split("\nvoluntary_ctxt_switches:")[1]
    ticks = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(rollup.split()[0]), int(status.split()[0]), (int(ticks[11]) + int(ticks[12])) / os.sysconf("SC_CLK_TCK")


def measure(folder, Daemon, Session, Sway, user):
    runtime = folder / "run"
    runtime.mkdir(mode=0o700)
    user.own(runtime)
    daemon = Daemon(folder)
    for number in range(100):
        daemon.app("exit 100", id=f"org.example.app{number}", owner=user.name, directory="/", desktop=[f"app{number}"])
    daemon.start()
    session = Session(runtime, daemon.socket)
    try:
        with Sway(runtime) as sway:
            session.begin(sway)
            for name in ("app0", "app1"):
                sway.window(name)
            time.sleep(2)
            pss, before, _ = figures(session.pid)
            time.sleep(60)
            print(f"PSS {pss / 1024:.1f} MB, goal 12; wakes in 60 s {figures(session.pid)[1] - before}, goal 0")
            events = iter(daemon.client.stream("Manager.Watch"))
            next(events)
            taken = []
            for number in range(ROUNDS):
                begin = time.perf_counter()
                sway.focus(f"app{number % 2}")
                while next(events)["event"].get("phase") != "foreground":
                    pass
                taken.append(time.perf_counter() - begin - DWELL)
            taken = sorted(value * 1000 for value in taken)
            print(f"phase p50 {statistics.median(taken):.1f} ms, p99 {taken[-2]:.1f} ms, goal 20")
            used = figures(session.pid)[2]
            begin = time.perf_counter()
            for number in range(CHANGES):
                sway.focus(f"app{number % 2}")
                time.sleep(max(0, begin + (number + 1) * PAUSE - time.perf_counter()))
            share = (figures(session.pid)[2] - used) / (time.perf_counter() - begin)
            print(f"CPU {share:.2%} of a processor at 1,000 changes of focus a minute, goal 1 %")
    finally:
        session.close()
        daemon.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=Path, required=True)
    os.environ["BIN_DIR"] = str(parser.parse_args().programs.absolute())
    sys.path[1:1] = [str(ROOT / "Tests/DaemonTests"), str(ROOT / "Tests/SessionTests")]
    # They read BIN_DIR when they are loaded.
    from daemon import Daemon
    from desktop import USER, Session, Sway

    with tempfile.TemporaryDirectory(prefix="refreshd-bench-") as folder:
        os.chmod(folder, 0o755)
        measure(Path(folder), Daemon, Session, Sway, USER)


if __name__ == "__main__":
    main()
