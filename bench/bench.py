"""Compares refreshd with a yardstick in C and with systemd's timers, in one run: `make bench`, or

    bench.py --programs DIR --with-systemd SCRIPT

DIR has refreshd, refreshctl, refresh-example and attached-bench of a release build. SCRIPT boots the throwaway systemd
(Tests/with-systemd). The bench needs root, because it counts CPU time by control groups. It takes about five minutes.

Three programs take turns, so that a busy machine slows all of them. Each figure is the median over the rounds.

- refreshd: 1,000 apps of one task each, with the spawn launcher and the state on disk.
- yardstick: yardstick.c, without state or policy. It shows the limit of the machine.
- systemd: a timer and a oneshot service for each task, AccuracySec=1us. Its figures count all of that systemd.

A figure that cannot be taken stays empty, and a note below the table gives the reason.

- alone: the memory of a refreshd that shares no pages, on its second start, after 100 calls of five methods and a
  reload (weight.py). "File" has pages of programs and libraries, "anonymous" has all others.
- bytes an app: anonymous memory at rest with 1,000 apps less that with one, by 999. For systemd it is the PSS.
- PSS idle: at rest after the second start, before the first call.
- wakes: voluntary context switches of all threads in 60 seconds with nothing due, less the watchdog's keep-alives.
- READY: from exec to READY=1, on the second start. For systemd: daemon-reload and the start of 1,000 timers.
- lateness: from the due instant to the task's first instruction, both by the wall clock. The apps are in the
  foreground, where intervals are exact.
- CPU a refresh: of the daemon and its tasks, by their control group.
- a unit a task: refreshd in the throwaway systemd, with the systemd launcher, against timers whose services have the
  same properties as refreshd's units. CPU is of all processes there.
- sustained: all 1,000 apps due ten times a second, more than the machine can do. For systemd: 1,000 timers by the time
  from their due instant to the last start.
- change: a Set of another interval until its reply, so with the commit. For systemd: files, daemon-reload, restart.
- Signal, Show: client.c calls; the yardstick sends the message back. Each Signal changes the app's phase and is saved.
  With one client, both ends share a processor.
- status: refreshctl status APP against systemctl show UNIT, from posix_spawn to exit.
- attached app: an app with RefreshKit that has nothing to do, against an echo in C; performer.c asks both. At rest:
  refresh-example, attached, after ten refreshes.
"""

import argparse
import contextlib
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import attached
import measure
import refreshd
from measure import percentile
from refreshd import Refreshd, message
from service import Burst, Service
from table import REFRESHD, SYSTEMD, YARDSTICK, Table
from timers import Timers
from units import Units
from weight import weigh
from yardstick import Yardstick

HERE = Path(__file__).resolve().parent
APPS = 1000
UNITS = 100
ROUNDS = 3
IDLE_SECONDS = 60
C_PROGRAMS = {
    "yardstick": [],
    "client": [],
    "task": ["-static", "-nostdlib", "-fno-stack-protector"],
    "performer": [],
}


class Bench:
    def __init__(self, programs: Path, scratch: Path, table: Table):
        self.programs, self.scratch, self.table = programs, scratch, table
        for name, options in C_PROGRAMS.items():
            subprocess.run(["cc", "-O2", *options, "-o", str(scratch / name), str(HERE / f"{name}.c")], check=True)
        self.starts = measure.Starts(scratch / "starts")
        self.shell_starts = measure.Starts(scratch / "shell-starts", line=1)
        self.task = [str(scratch / "task"), str(self.starts.path), "%04d"]
        self.shell_task = ["/bin/sh", "-c", f"echo >>{self.shell_starts.path}"]
        self.notify = measure.Notify(scratch / "notify.socket")
        self.refreshd = self.a_refreshd("refreshd", APPS, self.task, self.starts)
        self.yardstick = self.a_yardstick("yardstick", APPS, self.task, self.starts)
        self.both = {REFRESHD: self.refreshd, YARDSTICK: self.yardstick}
        self.in_shell = {
            REFRESHD: self.a_refreshd("refreshd-shell", APPS, self.shell_task, self.shell_starts),
            YARDSTICK: self.a_yardstick("yardstick-shell", APPS, self.shell_task, self.shell_starts),
        }
        self.systemd_boot: Timers | None = None
        self.timers: Timers | None = None
        self.units: Units | None = None

    def a_refreshd(self, name: str, apps: int, task: list[str], starts: measure.Starts) -> Refreshd:
        return Refreshd(self.programs / "refreshd", self.scratch, name, apps, task, starts, self.notify)

    def a_yardstick(self, name: str, tasks: int, task: list[str], starts: measure.Starts) -> Yardstick:
        return Yardstick(self.scratch, self.scratch, name, tasks, task, starts, self.notify)

    def boot_systemd(self, script: Path) -> None:
        try:
            self.timers = self.systemd_boot = Timers(script, self.programs, self.scratch, self.starts)
            arguments = (self.programs / "refreshd", self.scratch, "refreshd-units", UNITS, self.task, self.starts)
            self.units = Units(self.timers, *arguments, self.notify)
        except measure.Missing.FAILURES as reason:
            self.table.notes.append(f"not taken: all of systemd: {reason}")

    def run(self) -> None:
        say("first starts, and memory of a refreshd alone")
        for service in (self.refreshd, self.in_shell[REFRESHD]):
            self.start_for_the_first_time(service)
        with_one = self.weights()
        if self.units:
            self.start_for_the_first_time(self.units)
        say("exec to READY=1")
        self.ready(2 * ROUNDS)
        say(f"{IDLE_SECONDS} idle seconds")
        for column, service in self.both.items():
            with self.table.attempt("start", column):
                service.start()
        self.idle(with_one)
        for number in range(ROUNDS):
            say(f"round {number + 1} of {ROUNDS}")
            self.due_one()
            self.due_all()
            self.as_units()
            self.sustained()
            self.change()
            self.calls()
            self.status()
            self.attached()

    def take(self, figure: str, actions: dict[str, Callable[[], float]]) -> None:
        """Adds a value to a figure for each column; a column that fails stays empty, and the next one follows."""
        for column, action in actions.items():
            with self.table.attempt(figure, column, self.recover):
                self.table.add(figure, column, action())

    def recover(self, column: str) -> None:
        """Starts a program again whose state is unknown, because a measurement of it has failed."""
        if column == SYSTEMD:
            if self.timers and self.timers.is_lost:
                self.timers = self.units = None
            return
        with self.table.attempt("start again", column):
            self.both[column].stop()
            self.both[column].start()
            self.both[column].make_quiet()

    def systemd(self, action: Callable[[Timers], float]) -> dict[str, Callable[[], float]]:
        """The column of systemd, if it runs."""
        timers = self.timers
        return {SYSTEMD: lambda: action(timers)} if timers else {}

    def start_for_the_first_time(self, service: Refreshd) -> None:
        with self.table.attempt("first start", service.name):
            try:
                service.start_for_the_first_time()
            finally:
                service.stop()

    def weights(self) -> dict[str, int]:
        """Adds the memory of a refreshd alone; returns the memory by column with one app, or one timer.

        File pages would disturb the bytes an app, so only anonymous pages count, except for systemd.
        """
        one = self.a_refreshd("refreshd-one", 1, self.task, self.starts)
        self.start_for_the_first_time(one)
        for name, service in {"1 app": one, "1,000 apps": self.refreshd}.items():
            for _ in range(ROUNDS):
                with self.table.attempt(f"alone, {name}", REFRESHD):
                    held = weigh(service)
                    self.table.add(f"alone, {name}: anonymous, MB", REFRESHD, held.anonymous / 1e6)
                    self.table.add(f"alone, {name}: file, MB", REFRESHD, held.file / 1e6)
                    self.table.add(f"alone, {name}: PSS, MB", REFRESHD, held.pss / 1e6)
        memory = {}
        services = {REFRESHD: one, YARDSTICK: self.a_yardstick("yardstick-one", 1, self.task, self.starts)}
        for column, service in services.items():
            with self.table.attempt("memory with one app", column):
                service.start()
                time.sleep(2)
                memory[column] = measure.memory(service.process).anonymous
            service.stop()
        if self.timers:
            with self.table.attempt("memory with one timer", SYSTEMD, self.recover):
                self.timers.ask("load", 1, self.task)
                memory[SYSTEMD] = self.timers.ask("pss")
        return memory

    def ready(self, times: int) -> None:
        figure = "exec to READY=1 with 1,000 apps, ms"
        for _ in range(times):
            for column, service in self.both.items():
                with self.table.attempt(figure, column):
                    self.table.add(figure, column, service.start())
                service.stop()
        self.take(figure, self.systemd(lambda timers: timers.ask("load", APPS, self.task)))

    def idle(self, with_one: dict[str, int]) -> None:
        time.sleep(3)
        memory = {}
        for column, service in self.both.items():
            with self.table.attempt("memory at rest", column):
                memory[column] = measure.memory(service.process)
        idle = {column: held.pss for column, held in memory.items()}
        with_all = {column: held.anonymous for column, held in memory.items()}
        if self.timers:
            with self.table.attempt("memory at rest", SYSTEMD, self.recover):
                idle[SYSTEMD] = with_all[SYSTEMD] = self.timers.ask("pss")
        for column, held in idle.items():
            self.table.add("PSS idle with 1,000 apps, MB", column, held / 1e6)
            if column in with_one:
                self.table.add("bytes an app", column, (with_all[column] - with_one[column]) / (APPS - 1))

        before, keep_alives = self.look(), self.notify.keep_alives
        time.sleep(IDLE_SECONDS)
        after, keep_alives = self.look(), self.notify.keep_alives - keep_alives
        self.table.notes.append(f"keep-alives in {IDLE_SECONDS} idle seconds: {keep_alives}")
        for column in before.keys() & after.keys():
            woken = after[column]["wakes"] - before[column]["wakes"] - (keep_alives if column == REFRESHD else 0)
            self.table.add("wakes in 60 idle s beyond keep-alives", column, woken)
            self.table.add("threads at rest with 1,000 apps", column, after[column]["threads"])

    def look(self) -> dict[str, dict[str, int]]:
        """The wakes and threads of each column."""
        seen = {}
        for column, service in self.both.items():
            with self.table.attempt("wakes", column):
                seen[column] = {
                    "wakes": measure.wakes(service.process), "threads": len(measure.threads(service.process))
                }  # fmt: skip
        if self.timers:
            with self.table.attempt("wakes", SYSTEMD, self.recover):
                seen[SYSTEMD] = self.timers.ask("idle")
        return seen

    def due_one(self) -> None:
        figure = "1 due: lateness p99, ms"
        late = {REFRESHD: [], YARDSTICK: []}
        left = dict(self.both)
        for _ in range(100):
            for column, service in list(left.items()):
                with self.table.attempt(figure, column, lambda each: (left.pop(each), self.recover(each))):
                    late[column].append(service.due_one())
        self.take(figure, {column: lambda values=values: percentile(values, 0.99) for column, values in late.items()})
        self.take(figure, self.systemd(lambda timers: percentile(timers.due_one(50), 0.99)))

    def due_all(self) -> None:
        bursts = {
            REFRESHD: lambda: self.refreshd.due_all(APPS, in_us=10_000_000),
            YARDSTICK: lambda: self.yardstick.due_all(APPS, in_us=200_000),
            **self.systemd(lambda timers: timers.due_all(APPS, in_us=6_000_000)),
        }
        for column, action in bursts.items():
            with self.table.attempt("1,000 due", column, self.recover):
                one = action()
                self.table.add("1,000 due: lateness p99, ms", column, percentile(one.late_ms, 0.99))
                self.table.add("1,000 due: CPU a refresh, ms", column, one.cpu_ms)
                if column == SYSTEMD:
                    self.table.add("refreshes/s sustained, static task", column, one.per_second)

    def as_units(self) -> None:
        if self.units:
            with self.table.attempt("a unit a task", REFRESHD):
                try:
                    self.units.start()
                    self.add_units(REFRESHD, self.units.due_one_each(50), self.units.due_all(UNITS, in_us=3_000_000))
                finally:
                    self.units.stop()
        if self.timers:
            with self.table.attempt("a unit a task", SYSTEMD, self.recover):
                self.timers.ask("load_as_refreshd", UNITS, self.task)
                self.add_units(SYSTEMD, self.timers.due_one(50), self.timers.due_all(UNITS, in_us=3_000_000))
        self.reload_timers(self.task)

    def add_units(self, column: str, late: list[float], burst: Burst) -> None:
        self.table.add("a unit a task, 1 due: lateness p50, ms", column, percentile(late, 0.5))
        self.table.add("a unit a task, 100 due: lateness p99, ms", column, percentile(burst.late_ms, 0.99))
        self.table.add("a unit a task, 100 due: CPU a refresh, ms", column, burst.cpu_ms)

    def reload_timers(self, task: list[str]) -> None:
        if self.timers:
            with self.table.attempt("reload of the timers", SYSTEMD, self.recover):
                self.timers.ask("load", APPS, task)

    def sustained(self) -> None:
        figure = "refreshes/s sustained, static task"
        self.take(figure, {column: lambda each=service: each.sustained(2) for column, service in self.both.items()})
        figure = "refreshes/s sustained, sh -c"
        for column, service in self.in_shell.items():
            with self.table.attempt(figure, column):
                service.start()
                self.table.add(figure, column, service.sustained(2))
            service.stop()
        if self.timers:
            self.reload_timers(self.shell_task)
            self.take(figure, self.systemd(lambda timers: timers.drained(APPS, 6_000_000, self.shell_starts)))
            self.reload_timers(self.task)

    def change(self) -> None:
        for figure, apps, calls in [
            ("change the interval of 1 app, ms", self.refreshd.apps[:1], 500),
            ("change the interval of 1,000, ms", self.refreshd.apps, 20),
        ]:
            messages = [message("Manager.Set", apps=apps, foreground_interval=text) for text in ("1h", "2h")]
            self.take(figure, {
                REFRESHD: lambda: self.ask(self.refreshd, 1, calls, *messages)[0] / 1e3,
                **self.systemd(lambda timers: timers.ask("change", len(apps))),
            })  # fmt: skip
        with self.table.attempt("quiet after the changes", REFRESHD, self.recover):
            self.refreshd.make_quiet()

    def calls(self) -> None:
        signals = [
            message("App.Signal", app="org.example.app%04d", signal=signal) for signal in ("foreground", "background")
        ]
        show = message("Manager.Show", app="org.example.app%04d")
        for connections, calls, which in [(1, 10_000, "1 client p50, us"), (50, 50_000, "50 clients, calls/s")]:
            for name, messages in {"Signal": signals, "Show": [show]}.items():
                for column, service in self.both.items():
                    figure = f"{name}, {which}"
                    with self.table.attempt(figure, column, self.recover):
                        p50_us, rate = self.ask(service, connections, calls, *messages)
                        self.table.add(figure, column, p50_us if connections == 1 else rate)
        with self.table.attempt("foreground after the calls", REFRESHD, self.recover):
            self.refreshd.enter_foreground(self.refreshd.apps[:50])

    def ask(self, service: Service, connections: int, calls: int, *messages: str) -> tuple[float, float]:
        """The median of a call in microseconds, and calls a second."""
        arguments = [str(self.scratch / "client"), str(service.socket), str(connections), str(calls), *messages]
        with measure.pinned(service.process) if connections == 1 else contextlib.nullcontext():
            result = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, timeout=60)
        if result.returncode != 0:
            raise RuntimeError(f"cannot measure the calls to {service.name}; {service.last_words()}")
        p50_us, _, rate = map(float, result.stdout.split())
        return p50_us, rate

    def status(self) -> None:
        figure = "status of one, as a process p50, ms"
        command = [str(self.programs / "refreshctl"), "status", refreshd.app(0)]
        path = str(self.refreshd.socket)
        self.take(figure, {
            REFRESHD: lambda: measure.median_ms(lambda: measure.run_quietly(command, REFRESH_SOCKET=path), 50),
            **self.systemd(lambda timers: timers.ask("show", 50)),
        })  # fmt: skip

    def attached(self) -> None:
        figure = "attached app: perform to Complete p50, us"
        performer, path = self.scratch / "performer", self.scratch / "performer.socket"
        clients = {REFRESHD: [str(self.programs / "attached-bench")], YARDSTICK: [str(performer), str(path)]}
        for column, client in clients.items():
            with self.table.attempt(figure, column):
                self.table.add(figure, column, attached.round_trip_us(performer, client, path))
        example = self.programs / "refresh-example"
        figure = "attached app at rest: RSS, MB"
        self.take(figure, {REFRESHD: lambda: attached.memory_at_rest(example, self.refreshd) / 1e6})

    def stop(self) -> None:
        for service in (self.refreshd, self.yardstick, *self.in_shell.values()):
            service.stop()
        if self.systemd_boot:
            self.systemd_boot.stop()


def say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="the directory of refreshd and refreshctl")
    parser.add_argument("--with-systemd", type=Path, required=True, help="boots a throwaway systemd")
    arguments = parser.parse_args()
    for name in ("refreshd", "refreshctl", "refresh-example", "attached-bench"):
        if not os.access(arguments.programs / name, os.X_OK):
            parser.error(f"no {name} in {arguments.programs}; build it with: make bench")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # as systemd gives it to a service that asks

    table = Table()
    with tempfile.TemporaryDirectory(prefix="refreshd-bench.", dir="/var/tmp") as directory:
        bench = Bench(arguments.programs.resolve(), Path(directory), table)
        try:
            bench.boot_systemd(arguments.with_systemd.resolve())
            bench.run()
        finally:
            bench.stop()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(table)
    print(f"\nLinux {platform.release()}, {os.cpu_count()} processors, load {load}", *table.notes, sep="\n")


main()
