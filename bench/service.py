"""A program under measurement that starts tasks by time and answers on a socket: refreshd, or the yardstick."""

import contextlib
import dataclasses
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import measure

WATCHDOG_US = 30_000_000
"""The watchdog of refreshd.service, so that the idle minute has its keep-alives."""


class TooLate(RuntimeError):
    """The machine was too busy to arm the tasks before they were due."""


@dataclasses.dataclass
class Burst:
    """The figures of refreshes that were due at a known instant."""

    late_ms: list[float]
    cpu_ms: float
    """CPU time of the service and its tasks for each refresh."""
    per_second: float
    """Refreshes a second, from the due instant to the last start."""


def burst(dues: dict[str, int], starts: measure.Starts, cpu_us: Callable[[], int]) -> Burst:
    """Waits until tasks are due and measures their starts; `dues` maps tasks to microseconds of the wall clock."""
    first_due = min(dues.values())
    wait = first_due - 5_000 - measure.now_us()
    if wait < 0:
        raise TooLate(f"cannot measure: {len(dues)} tasks were armed {-wait} us too late")
    starts.clear()
    time.sleep(wait / 1e6)
    before = cpu_us()
    starts.wait_for_all(set(dues))
    if len(dues) > 1:
        time.sleep(0.2)  # the service handles the last ends, whose CPU time counts
    spent = cpu_us() - before
    first = starts.first_by_task()
    late = [(first[task] - due) / 1e3 for task, due in dues.items()]
    return Burst(late, spent / 1e3 / len(dues), len(dues) / (max(first.values()) - first_due) * 1e6)


class Service:
    def __init__(self, name: str, arguments: list[str], socket: Path, starts: measure.Starts, notify: measure.Notify):
        self.name = name
        self.arguments = arguments
        self.socket = socket
        self.starts = starts
        self.notify = notify
        self.log = socket.with_suffix(".log")
        self.process = 0
        self.group: measure.ControlGroup | None = None

    def start(self) -> float:
        """Starts the service and returns the milliseconds from exec to READY=1."""
        environment = dict(os.environ, NOTIFY_SOCKET=str(self.notify.path), WATCHDOG_USEC=str(WATCHDOG_US))
        output = [
            (os.POSIX_SPAWN_OPEN, descriptor, str(self.log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            for descriptor in (1, 2)
        ]
        group = measure.ControlGroup(self.name)
        self.notify.expect_ready()
        begin = time.perf_counter()
        self.process = os.posix_spawn(self.arguments[0], self.arguments, environment, file_actions=output)
        self.group = group
        group.add(self.process)
        if not self.notify.is_ready(patience=60):
            self.stop()
            raise RuntimeError(f"cannot measure {self.name}: no READY=1 in 60 s; {self.last_words()}")
        return (self.notify.ready_at - begin) * 1e3

    def stop(self) -> None:
        """Ends the service as systemd does, and its remaining processes by the control group."""
        if self.group is None:
            return
        os.kill(self.process, signal.SIGTERM)
        end = time.monotonic() + 20
        while os.waitpid(self.process, os.WNOHANG)[0] == 0:
            if time.monotonic() > end:
                os.kill(self.process, signal.SIGKILL)
                end = float("inf")
            time.sleep(0.005)
        self.group.remove()
        self.group = None

    def cpu_us(self) -> int:
        return self.group.cpu_us() if self.group else 0

    def last_words(self) -> str:
        return self.log.read_text()[-1000:].strip() if self.log.exists() else "it wrote nothing"

    def make_due(self, count: int, in_us: int) -> dict[str, int]:
        """Makes the first `count` tasks due together, once; returns the due instants."""
        raise NotImplementedError

    def make_busy(self, every_us: int) -> None:
        """Makes all tasks due repeatedly."""
        raise NotImplementedError

    def make_quiet(self) -> None:
        """Makes nothing due."""
        raise NotImplementedError

    def due_one(self) -> float:
        """Lateness in milliseconds of one task that is due alone; retries if the machine is too busy."""
        for in_us in (60_000, 120_000, 500_000, 2_000_000):
            with contextlib.suppress(TooLate):
                [late] = burst(self.make_due(1, in_us), self.starts, lambda: 0).late_ms
                self.make_quiet()
                return late
            self.make_quiet()
        raise TooLate("cannot measure: the machine is too busy to arm one task in two seconds")

    def due_one_each(self, samples: int) -> list[float]:
        """Lateness in milliseconds of one task that is due alone, several times."""
        return [self.due_one() for _ in range(samples)]

    def due_all(self, count: int, in_us: int) -> Burst:
        """All tasks due at one instant, once."""
        result = burst(self.make_due(count, in_us), self.starts, self.cpu_us)
        self.make_quiet()
        return result

    def sustained(self, seconds: float) -> float:
        """Starts a second while every task is due ten times a second, more than the machine can do."""
        self.make_busy(every_us=100_000)
        time.sleep(0.5)
        begin, before = time.monotonic(), self.starts.count()
        time.sleep(seconds)
        rate = (self.starts.count() - before) / (time.monotonic() - begin)
        self.make_quiet()
        time.sleep(0.5)  # running tasks end
        return rate
