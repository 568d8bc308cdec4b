"""Compares refreshd with a yardstick in C and with systemd's timers, in one run: `make bench`, or

    bench.py --programs DIR --with-systemd SCRIPT

DIR has `refreshd`, `refreshctl`, `refresh-example` and `attached-bench` of a release build. SCRIPT boots the throwaway
systemd (Tests/with-systemd, as root). The bench compiles its C programs (yardstick.c, task.c, client.c, performer.c) by
`cc`, works in a scratch directory below /var/tmp, takes about five minutes, and ends with one table. It needs root,
because it counts CPU time by control groups. If the throwaway systemd does not run, its column stays empty and a note
below the table gives the reason.

The bench measures three programs in alternating rounds, so that other load on the machine affects all three. Each
figure is the median over the rounds:

- refreshd: 1,000 apps of one task each, with the spawn launcher and the state on disk;
- the yardstick: yardstick.c without state or policy, the limit of the machine and no product;
- systemd timers: a .timer and a oneshot .service for each task, AccuracySec=1us; the figures count all of that systemd.

The figures:

- Memory: of a refreshd alone, on its second start, after 100 calls of five methods and a reload (weight.py). No other
  process may run its program then, because shared pages would count in part only. "File" has pages of the program and
  of libraries, "anonymous" has all others.
- Bytes an app: the difference in anonymous memory at rest between 1,000 apps and one, by 999, configuration included;
  for systemd the difference in PSS.
- PSS idle: at rest after the second start, before the first call.
- Wakes: voluntary context switches of all threads in 60 seconds without a due refresh, less the watchdog's keep-alives
  ($WATCHDOG_USEC is 30 s). All three idle in the same minute.
- READY: from exec to the message on $NOTIFY_SOCKET, on the second start. For systemd: daemon-reload and the start of
  1,000 timers.
- Lateness: the first instruction of the task minus the due instant, both by the wall clock. All apps are in the
  foreground, whose interval is exact. The bench sets an interval that ends at the due instant, and Show confirms it.
  "1 due" is one of 1,000 apps, many times. "1,000 due" is all apps at one instant; CPU is of the daemon and its tasks,
  by their control group (cpu.stat).
- A unit a task: refreshd as a service of the throwaway systemd with the systemd launcher, against timers whose services
  have the properties of refreshd's units: accounting, limits, a slice, a user. CPU is of all processes in that systemd.
- Sustained: all 1,000 apps due ten times a second, more than the machine can do; starts a second over two seconds. For
  systemd: 1,000 by the time from their due instant to the last start. The task has 9 kB and no C library, or is `sh -c`
  with a built-in command that appends one byte, by which starts are counted.
- Change: a Set of another interval until the reply, so until the commit. For systemd: files, daemon-reload, restart.
- Calls: client.c, the same against all; the yardstick echoes a Signal. Signals alternate between foreground and
  background, so that each changes the app's phase and is saved. With one client, both ends share a processor.
- Status as a process: `refreshctl status APP` against `systemctl show UNIT`, from posix_spawn to exit.
- Attached app: an app with RefreshKit that has nothing to do when it is asked to refresh itself, against an echo in C;
  performer.c asks both. At rest: refresh-example, attached to refreshd, after ten refreshes.
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
from pathlib import Path

import attached
import measure
import refreshd
from measure import percentile
from refreshd import Refreshd, message
from service import Service
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
        self.timers: Timers | None = None
        self.units: Units | None = None

    def a_refreshd(self, name: str, apps: int, task: list[str], starts: measure.Starts) -> Refreshd:
        return Refreshd(self.programs / "refreshd", self.scratch, name, apps, task, starts, self.notify)

    def a_yardstick(self, name: str, tasks: int, task: list[str], starts: measure.Starts) -> Yardstick:
        return Yardstick(self.scratch, self.scratch, name, tasks, task, starts, self.notify)

    def boot_systemd(self, script: Path) -> None:
        try:
            self.timers = Timers(script, self.programs, self.scratch, self.starts)
            arguments = (self.programs / "refreshd", self.scratch, "refreshd-units", UNITS, self.task, self.starts)
            self.units = Units(self.timers, *arguments, self.notify)
        except (RuntimeError, OSError) as reason:
            self.table.notes.append(str(reason))

    def run(self) -> None:
        say("first starts, and memory of a refreshd alone")
        for service in (self.refreshd, self.in_shell[REFRESHD]):
            service.start_for_the_first_time()
            service.stop()
        with_one = self.weights()
        if self.units:
            self.units.start_for_the_first_time()
            self.units.stop()
        say("exec to READY=1")
        self.ready(2 * ROUNDS)
        say(f"{IDLE_SECONDS} idle seconds")
        self.refreshd.start()
        self.yardstick.start()
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

    def weights(self) -> dict[str, int]:
        """Adds the memory of a refreshd alone; returns the memory by column with one app, or one timer.

        File pages would disturb the bytes an app, so only anonymous pages count, except for systemd.
        """
        one = self.a_refreshd("refreshd-one", 1, self.task, self.starts)
        one.start_for_the_first_time()
        one.stop()
        for name, service in {"1 app": one, "1,000 apps": self.refreshd}.items():
            for _ in range(ROUNDS):
                held = weigh(service)
                self.table.add(f"alone, {name}: anonymous, MB", REFRESHD, held.anonymous / 1e6)
                self.table.add(f"alone, {name}: file, MB", REFRESHD, held.file / 1e6)
                self.table.add(f"alone, {name}: PSS, MB", REFRESHD, held.pss / 1e6)
        memory = {}
        for column, service in {
            REFRESHD: one,
            YARDSTICK: self.a_yardstick("yardstick-one", 1, self.task, self.starts),
        }.items():
            service.start()
            time.sleep(2)
            memory[column] = measure.memory(service.process).anonymous
            service.stop()
        if self.timers:
            self.timers.ask("load", 1, self.task)
            memory[SYSTEMD] = self.timers.ask("pss")
        return memory

    def ready(self, times: int) -> None:
        figure = "exec to READY=1 with 1,000 apps, ms"
        for _ in range(times):
            for column, service in self.both.items():
                self.table.add(figure, column, service.start())
                service.stop()
        if self.timers:
            self.table.add(figure, SYSTEMD, self.timers.ask("load", APPS, self.task))

    def idle(self, with_one: dict[str, int]) -> None:
        time.sleep(3)

        def look() -> dict[str, dict[str, int]]:
            seen = {
                column: {"wakes": measure.wakes(service.process), "threads": len(measure.threads(service.process))}
                for column, service in self.both.items()
            }
            return seen | ({SYSTEMD: self.timers.ask("idle")} if self.timers else {})

        memory = {column: measure.memory(service.process) for column, service in self.both.items()}
        idle = {column: held.pss for column, held in memory.items()}
        with_all = {column: held.anonymous for column, held in memory.items()}
        if self.timers:
            idle[SYSTEMD] = with_all[SYSTEMD] = self.timers.ask("pss")
        for column, held in idle.items():
            self.table.add("PSS idle with 1,000 apps, MB", column, held / 1e6)
            self.table.add("bytes an app", column, (with_all[column] - with_one[column]) / (APPS - 1))

        before, keep_alives = look(), self.notify.keep_alives
        time.sleep(IDLE_SECONDS)
        after, keep_alives = look(), self.notify.keep_alives - keep_alives
        self.table.notes.append(f"keep-alives in {IDLE_SECONDS} idle seconds: {keep_alives}")
        for column, seen in after.items():
            woken = seen["wakes"] - before[column]["wakes"] - (keep_alives if column == REFRESHD else 0)
            self.table.add("wakes in 60 idle s beyond keep-alives", column, woken)
            self.table.add("threads at rest with 1,000 apps", column, seen["threads"])

    def due_one(self) -> None:
        late = {REFRESHD: [], YARDSTICK: []}
        for _ in range(100):
            for column, service in self.both.items():
                late[column].append(service.due_one())
        late |= {SYSTEMD: self.timers.due_one(50)} if self.timers else {}
        for column, values in late.items():
            self.table.add("1 due: lateness p99, ms", column, percentile(values, 0.99))

    def due_all(self) -> None:
        bursts = {
            REFRESHD: self.refreshd.due_all(APPS, in_us=10_000_000),
            YARDSTICK: self.yardstick.due_all(APPS, in_us=200_000),
        }
        if self.timers:
            bursts[SYSTEMD] = self.timers.due_all(APPS, in_us=6_000_000)
            self.table.add("refreshes/s sustained, static task", SYSTEMD, bursts[SYSTEMD].per_second)
        for column, one in bursts.items():
            self.table.add("1,000 due: lateness p99, ms", column, percentile(one.late_ms, 0.99))
            self.table.add("1,000 due: CPU a refresh, ms", column, one.cpu_ms)

    def as_units(self) -> None:
        if self.timers is None or self.units is None:
            return
        self.units.start()
        late = {REFRESHD: [self.units.due_one() for _ in range(50)]}
        bursts = {REFRESHD: self.units.due_all(UNITS, in_us=3_000_000)}
        self.units.stop()
        self.timers.ask("load_as_refreshd", UNITS, self.task)
        late[SYSTEMD] = self.timers.due_one(50)
        bursts[SYSTEMD] = self.timers.due_all(UNITS, in_us=3_000_000)
        self.timers.ask("load", UNITS, self.task)
        for column, one in bursts.items():
            self.table.add("a unit a task, 1 due: lateness p50, ms", column, percentile(late[column], 0.5))
            self.table.add("a unit a task, 100 due: lateness p99, ms", column, percentile(one.late_ms, 0.99))
            self.table.add("a unit a task, 100 due: CPU a refresh, ms", column, one.cpu_ms)

    def sustained(self) -> None:
        for column, service in self.both.items():
            self.table.add("refreshes/s sustained, static task", column, service.sustained(2))
        figure = "refreshes/s sustained, sh -c"
        for column, service in self.in_shell.items():
            service.start()
            self.table.add(figure, column, service.sustained(2))
            service.stop()
        if self.timers:
            self.timers.ask("load", APPS, self.shell_task)
            self.table.add(figure, SYSTEMD, self.timers.drained(APPS, 6_000_000, self.shell_starts))
            self.timers.ask("load", APPS, self.task)

    def change(self) -> None:
        for figure, apps, calls in [
            ("change the interval of 1 app, ms", self.refreshd.apps[:1], 500),
            ("change the interval of 1,000, ms", self.refreshd.apps, 20),
        ]:
            messages = [message("Manager.Set", apps=apps, foreground_interval=text) for text in ("1h", "2h")]
            p50_us, _ = self.ask(self.refreshd, 1, calls, *messages)
            self.table.add(figure, REFRESHD, p50_us / 1e3)
            if self.timers:
                self.table.add(figure, SYSTEMD, self.timers.ask("change", len(apps)))
        self.refreshd.make_quiet()

    def calls(self) -> None:
        signals = [
            message("App.Signal", app="org.example.app%04d", signal=signal) for signal in ("foreground", "background")
        ]
        show = message("Manager.Show", app="org.example.app%04d")
        for connections, calls, which in [(1, 10_000, "1 client p50, us"), (50, 50_000, "50 clients, calls/s")]:
            for figure, messages in {"Signal": signals, "Show": [show]}.items():
                for column, service in self.both.items():
                    p50_us, rate = self.ask(service, connections, calls, *messages)
                    self.table.add(f"{figure}, {which}", column, p50_us if connections == 1 else rate)
        self.refreshd.enter_foreground(self.refreshd.apps[:50])

    def ask(self, service: Service, connections: int, calls: int, *messages: str) -> tuple[float, float]:
        """The median of a call in microseconds, and calls a second."""
        arguments = [str(self.scratch / "client"), str(service.socket), str(connections), str(calls), *messages]
        with measure.pinned(service.process) if connections == 1 else contextlib.nullcontext():
            result = subprocess.run(arguments, stdout=subprocess.PIPE, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"cannot measure the calls to {service.name}; {service.last_words()}")
        p50_us, _, rate = map(float, result.stdout.split())
        return p50_us, rate

    def status(self) -> None:
        figure = "status of one, as a process p50, ms"
        command = [str(self.programs / "refreshctl"), "status", refreshd.app(0)]
        path = str(self.refreshd.socket)
        taken = measure.median_ms(lambda: measure.run_quietly(command, REFRESH_SOCKET=path), 50)
        self.table.add(figure, REFRESHD, taken)
        if self.timers:
            self.table.add(figure, SYSTEMD, self.timers.ask("show", 50))

    def attached(self) -> None:
        figure = "attached app: perform to Complete p50, us"
        performer, path = self.scratch / "performer", self.scratch / "performer.socket"
        clients = {REFRESHD: [str(self.programs / "attached-bench")], YARDSTICK: [str(performer), str(path)]}
        for column, client in clients.items():
            self.table.add(figure, column, attached.round_trip_us(performer, client, path))
        held = attached.memory_at_rest(self.programs / "refresh-example", self.refreshd)
        self.table.add("attached app at rest: RSS, MB", REFRESHD, held / 1e6)

    def stop(self) -> None:
        for service in (self.refreshd, self.yardstick, *self.in_shell.values()):
            service.stop()
        if self.timers:
            self.timers.stop()


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
        except RuntimeError as reason:
            sys.exit(f"bench: {reason}")
        finally:
            bench.stop()
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(table)
    print(f"\nLinux {platform.release()}, {os.cpu_count()} processors, load {load}", *table.notes, sep="\n")


main()
