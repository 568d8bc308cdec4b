"""Reads the readiness, memory, wakes and CPU time of a process, and the starts of its tasks."""

import contextlib
import dataclasses
import math
import os
import socket
import statistics
import subprocess
import threading
import time
from pathlib import Path


def now_us() -> int:
    """The wall clock in microseconds, as tasks write it and as the socket's messages carry it."""
    return time.clock_gettime_ns(time.CLOCK_REALTIME) // 1000


class Missing:
    """The figures that could not be taken, as notes for below the table."""

    # A late machine shows as one of these: a bound of the bench, a timeout of a socket or of a process.
    FAILURES = (RuntimeError, OSError, EOFError, ValueError, subprocess.SubprocessError)

    def __init__(self):
        self.notes: list[str] = []

    @contextlib.contextmanager
    def attempt(self, figure: str, column: str, recover=None):
        """Runs a measurement; if it fails, notes the reason once a figure, calls `recover`, and goes on."""
        try:
            yield
        except self.FAILURES as reason:
            about = f"not taken: {figure}, {column}"
            if not any(note.startswith(about + ": ") for note in self.notes):
                text = " ".join(str(reason).split())[:300] or type(reason).__name__
                self.notes.append(f"{about}: {text}")
            if recover is not None:
                recover(column)


def percentile(values, share: float) -> float:
    """The smallest value such that `share` of the values are not larger; ValueError if there is none."""
    if not values:
        raise ValueError("no value was taken")
    return sorted(values)[math.ceil(len(values) * share) - 1]


def free_port() -> int:
    """A free port of the loopback interface."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def median_ms(action, times: int) -> float:
    """The median time of `action` in milliseconds."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        action()
        taken.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(taken)


def run_quietly(arguments: list[str], **environment: str) -> None:
    """Runs a program to its end by posix_spawn and discards its output, as a script would."""
    null = [(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)]
    process = os.posix_spawnp(arguments[0], arguments, os.environ | environment, file_actions=null)
    _, status = os.waitpid(process, 0)
    if status != 0:
        raise RuntimeError(f"cannot measure {' '.join(arguments)}: it ended with status {status}")


@dataclasses.dataclass(frozen=True)
class Memory:
    """The memory of a process in bytes; except in `rss`, processes that share a page count equal parts of it."""

    anonymous: int
    """Heap, stacks, and pages of mapped files that the process or the dynamic linker has written."""
    file: int
    """Unchanged pages of files: the program and its libraries."""
    pss: int
    """Both of these, and shared memory."""
    rss: int


def memory(process: int) -> Memory:
    """Reads /proc/PID/smaps_rollup (proc_pid_smaps(5))."""
    lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()[1:]
    held = {name: int(value.split()[0]) * 1024 for name, value in (line.split(":") for line in lines)}
    return Memory(anonymous=held["Pss_Anon"], file=held["Pss_File"], pss=held["Pss"], rss=held["Rss"])


def pss(process: int) -> int:
    """The proportional set size in bytes."""
    return memory(process).pss


def threads(process: int) -> list[str]:
    return os.listdir(f"/proc/{process}/task")


def wakes(process: int) -> int:
    """Voluntary context switches of all threads, each of which is a sleep and a wake."""
    count = 0
    for thread in threads(process):
        status = Path(f"/proc/{process}/task/{thread}/status").read_text()
        count += int(status.split("\nvoluntary_ctxt_switches:")[1].split()[0])
    return count


@contextlib.contextmanager
def pinned(process: int):
    """Pins this process, its children, and all threads of `process` to one processor.

    The time of a call depends on whether client and server share a processor: 5 against 60 microseconds for an echo.
    Without pinning, a figure would depend on the scheduler's choice.
    """
    before = os.sched_getaffinity(0)
    one = {min(before)}

    def move(processors):
        for thread in [0, *map(int, threads(process))]:
            os.sched_setaffinity(thread, processors)

    move(one)
    try:
        yield
    finally:
        move(before)


class ControlGroup:
    """A control group of version 2, which counts the CPU time of a process and of all its descendants."""

    def __init__(self, name: str):
        mounts = [line.split() for line in Path("/proc/mounts").read_text().splitlines()]
        roots = [mount[1] for mount in mounts if mount[2] == "cgroup2"]
        if not roots:
            raise RuntimeError("cannot count CPU time: no cgroup2 is mounted")
        self.path = Path(roots[0]) / f"refreshd-bench.{os.getpid()}.{name}"
        try:
            self.path.mkdir()
        except OSError as error:
            raise RuntimeError(f"cannot count CPU time in a control group: {error}; run the bench as root") from error

    def add(self, process: int) -> None:
        (self.path / "cgroup.procs").write_text(str(process))

    def cpu_us(self) -> int:
        return int((self.path / "cpu.stat").read_text().split()[1])

    def remove(self) -> None:
        (self.path / "cgroup.kill").write_text("1")
        while "populated 1" in (self.path / "cgroup.events").read_text():
            time.sleep(0.01)
        self.path.rmdir()


class Notify:
    """The bench's end of $NOTIFY_SOCKET, which a thread always reads so that no service waits for it."""

    def __init__(self, path: Path):
        self.path = path
        self.keep_alives = 0
        self.ready_at = 0.0
        self._ready = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            lines = self._socket.recv(4096).decode().split("\n")
            if "READY=1" in lines and not self._ready.is_set():
                self.ready_at = time.perf_counter()
                self._ready.set()
            self.keep_alives += lines.count("WATCHDOG=1")

    def expect_ready(self) -> None:
        self._ready.clear()

    def is_ready(self, patience: float) -> bool:
        return self._ready.wait(patience)


class Starts:
    """The file to which each task appends a line when it starts."""

    LINE = len("0000 1763718000000000\n")

    def __init__(self, path: Path, line: int = LINE):
        self.path = path
        self.line = line
        path.touch()

    def count(self) -> int:
        return self.path.stat().st_size // self.line

    def clear(self) -> None:
        os.truncate(self.path, 0)

    def wait_for(self, count: int, patience: float = 30.0) -> None:
        """Polls only 50 times a second, so that polling does not disturb the measurement."""
        end = time.monotonic() + patience
        while self.count() < count:
            if time.monotonic() > end:
                raise RuntimeError(f"cannot measure: {self.count()} of {count} tasks started in {patience:.0f} s")
            time.sleep(0.02)

    def wait_for_all(self, tasks: set[str], patience: float = 30.0) -> None:
        """Waits until each of these tasks has started; starts of other tasks do not count."""
        end = time.monotonic() + patience
        self.wait_for(len(tasks), patience)
        while missing := tasks - self.first_by_task().keys():
            if time.monotonic() > end:
                raise RuntimeError(f"cannot measure: {len(missing)} tasks did not start in {patience:.0f} s")
            time.sleep(0.02)

    def first_by_task(self) -> dict[str, int]:
        """The first start of each task, in microseconds of the wall clock."""
        first: dict[str, int] = {}
        for line in self.path.read_text().splitlines():
            task, start = line.split()
            first.setdefault(task, int(start))
        return first
