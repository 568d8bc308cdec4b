"""Runs inside the throwaway systemd: makes timers, changes them, serves refreshd, and measures, as timers.py asks.

`timers_inside.py SOCKET` connects to SOCKET and answers each line, a JSON array [word, argument…], with an object of one
member, "value" or "failure". A timer is one .timer and one oneshot .service file, with AccuracySec=1us and without a limit on starts.
"""

import datetime
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import measure

UNITS = Path("/run/systemd/system")
GROUPS = Path("/sys/fs/cgroup")
NEVER = ["2099-01-01 00:00:00"]
PLAIN = "Type=oneshot\n"
AS_REFRESHD = """\
Type=exec
Slice=bench.slice
KillMode=control-group
OOMPolicy=stop
RuntimeMaxSec=36
TimeoutStopSec=5
CPUAccounting=yes
MemoryAccounting=yes
IOAccounting=yes
IPAccounting=yes
User=root
Group=root
"""
"""The properties that refreshd gives the unit of a task."""
DAEMON = """\
[Service]
Type=notify
NotifyAccess=main
KillMode=mixed
Delegate=yes
FileDescriptorStoreMax=1024
ExecStart="""


def timer(number: int) -> str:
    return f"bench{number:04}.timer"


def systemctl(*arguments: str) -> None:
    status = subprocess.run(["systemctl", *arguments], stdout=subprocess.DEVNULL).returncode
    if status:
        raise RuntimeError(f"systemctl {arguments[0]} ended with status {status}")


def write_timer(number: int, instants: list[str]) -> None:
    lines = "".join(f"OnCalendar={instant} UTC\n" for instant in instants)
    (UNITS / timer(number)).write_text(f"[Timer]\nAccuracySec=1us\n{lines}")


def calendar(at_us: int) -> str:
    whole = datetime.datetime.fromtimestamp(at_us // 1_000_000, datetime.UTC)
    return f"{whole:%Y-%m-%d %H:%M:%S}.{at_us % 1_000_000:06}"


def load(count: int, task: list[str], settings: str = PLAIN) -> float:
    """Writes the units of `count` tasks; returns the milliseconds to load and start them."""
    for number in range(count):
        command = " ".join(f'"{argument}"' for argument in task).replace("%04d", f"{number:04}")
        (UNITS / f"bench{number:04}.service").write_text(
            f"[Unit]\nStartLimitIntervalSec=0\n[Service]\n{settings}ExecStart={command}\n"
        )
        write_timer(number, NEVER)
    return restart(count)


def restart(count: int) -> float:
    """Reloads the files of the first `count` timers; returns the milliseconds."""
    begin = time.perf_counter()
    systemctl("daemon-reload")
    systemctl("restart", *map(timer, range(count)))
    return (time.perf_counter() - begin) * 1e3


def make_due(count: int, instants_us: list[int]) -> float:
    for number in range(count):
        write_timer(number, [calendar(at) for at in instants_us])
    return restart(count)


def change(count: int) -> float:
    """Changes the instant of `count` timers; returns the milliseconds until the change is in force."""
    begin = time.perf_counter()
    year = 2100 + int(begin) % 50
    for number in range(count):
        write_timer(number, [f"{year}-01-01 00:00:00"])
    restart(count)
    return (time.perf_counter() - begin) * 1e3


def cpu_us() -> int:
    """CPU time of all processes in this systemd except this program: PID 1, the journal and the tasks."""

    def spent(group: Path) -> int:
        return int((group / "cpu.stat").read_text().split()[1])

    own = next(line[3:] for line in Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::"))
    return spent(GROUPS) - spent(GROUPS / own.lstrip("/"))


def idle() -> dict[str, int]:
    return {"wakes": measure.wakes(1), "threads": len(measure.threads(1))}


def show(times: int) -> float:
    return measure.median_ms(lambda: measure.run_quietly(["systemctl", "show", timer(0)]), times)


def serve(arguments: list[str]) -> None:
    """Starts refreshd as a service."""
    (UNITS / "refreshd-bench.service").write_text(DAEMON + " ".join(arguments) + "\n")
    systemctl("daemon-reload")
    systemctl("start", "refreshd-bench.service")


WORDS = {
    "serve": serve,
    "unserve": lambda: systemctl("stop", "refreshd-bench.service"),
    "load_as_refreshd": lambda count, task: load(count, task, AS_REFRESHD),
    "load": load,
    "make_due": make_due,
    "change": change,
    "cpu_us": cpu_us,
    "idle": idle,
    "show": show,
    "pss": lambda: measure.pss(1),
}


def main() -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(sys.argv[1])
        stream = connection.makefile("rw")
        for line in stream:
            word, *arguments = json.loads(line)
            try:
                answer = {"value": WORDS[word](*arguments)}
            except (RuntimeError, OSError) as reason:
                answer = {"failure": str(reason)}
            print(json.dumps(answer), file=stream, flush=True)


main()
