"""Measures pushes against `mosquitto_sub | while read` in one run: `make bench`, or

    push.py --programs DIR

DIR has refreshd and refresh-push of a release build. mosquitto serves both sides on loopback, without TLS. Each message
starts the same small command, which records the time of its first instruction. The rounds alternate.

- broker: from mosquitto_pub to the command: broker, bridge, disk, daemon. The yardstick is a shell that reads the lines
  of mosquitto_sub and starts the command; it stores nothing.
- socket: from the call of App.Push to the command; the same yardstick.
- accepted: messages a second, each on disk before it is acknowledged. The apps are logged out, so no task starts.
- PSS: the bridge after all of that; both processes of the yardstick.

A figure that cannot be taken stays empty, and a note below the table gives the reason.
"""

import argparse
import itertools
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import measure
from refreshd import Client, Refreshd
from service import Service
from table import align, shown

HERE = Path(__file__).resolve().parent
APPS, ROUNDS, SAMPLES = 40, 5, 100
CALLS, CLIENTS, BATCH, MESSAGES = 500, 16, 256, 10_000
REFRESHD, YARDSTICK = COLUMNS = ("refreshd", "mosquitto_sub")
# The push limit is too high to matter, and the broker is on this machine.
MORE = '[push]\nnetwork = "none"\n[defaults]\npush_burst = 100\npush_per_hour = 3600\n'
BROKER = """\
listener {port} 127.0.0.1
user root
allow_anonymous true
max_queued_messages 0
persistence false
log_type none
"""
SOURCE = """\
[[mqtt]]
name = "broker"
host = "127.0.0.1"
port = {port}
tls = false
topic = "bench/{{app}}"
"""


def payload(number: int) -> str:
    return '{"aps":{"content-available":1},"content-id":%d}' % number


class Bridge(Service):
    def __init__(self, binary: Path, scratch: Path, refreshd: Refreshd, port: int, starts, notify):
        config = scratch / refreshd.name / "config"
        (config / "push.toml").write_text(SOURCE.format(port=port))
        options = ["--config", str(config), "--state", str(scratch / "bridge"), "--socket", str(refreshd.socket)]
        super().__init__("bridge", [str(binary), *options], scratch / "bridge.socket", starts, notify)


class Bench:
    def __init__(self, programs: Path, scratch: Path):
        self.scratch = scratch
        self.task = scratch / "task"
        options = ["-static", "-nostdlib", "-fno-stack-protector"]
        subprocess.run(["cc", "-O2", *options, "-o", str(self.task), str(HERE / "task.c")], check=True)
        self.starts = measure.Starts(scratch / "starts")
        self.port = measure.free_port()
        self.notify = measure.Notify(scratch / "notify.socket")
        command = [str(self.task), str(self.starts.path), "%04d"]
        self.refreshd = Refreshd(programs / "refreshd", scratch, "refreshd", APPS, command, self.starts, self.notify)
        with (scratch / "refreshd/config/refreshd.toml").open("a") as file:
            file.write(MORE)
        self.bridge = Bridge(programs / "refresh-push", scratch, self.refreshd, self.port, self.starts, self.notify)
        self.numbers = itertools.count()
        self.processes: list[subprocess.Popen] = []
        self.publishers: dict[str, subprocess.Popen] = {}
        self.values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.missing = measure.Missing()

    def start(self) -> None:
        (self.scratch / "mosquitto.conf").write_text(BROKER.format(port=self.port))
        self.notify.expect_ready()
        self.run_beside(
            ["mosquitto", "-c", str(self.scratch / "mosquitto.conf")],
            env=os.environ | {"NOTIFY_SOCKET": str(self.notify.path)}, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        if not self.notify.is_ready(patience=10):
            raise RuntimeError("cannot measure: mosquitto does not serve")
        self.refreshd.start()
        self.bridge.start()
        listen = f"mosquitto_sub -h 127.0.0.1 -p {self.port} -q 1 -t yardstick"
        start = f"while read -r line; do {self.task} {self.starts.path} 0000; done"
        self.shell = self.run_beside(["sh", "-c", f"{listen} | {start}"])
        # Both are connected once a message has reached each.
        for topic in [f"bench/{self.refreshd.apps[0]}", "yardstick"]:
            self.open_publisher(topic)
            self.arrive(topic)
        for app in self.refreshd.apps[1:]:
            self.open_publisher(f"bench/{app}")

    def run_beside(self, arguments: list[str], **options) -> subprocess.Popen:
        self.processes.append(subprocess.Popen(arguments, process_group=0, **options))
        return self.processes[-1]

    def open_publisher(self, topic: str) -> None:
        where = ["-h", "127.0.0.1", "-p", str(self.port)]
        self.publishers[topic] = self.run_beside(
            ["mosquitto_pub", *where, "-q", "1", "-l", "-t", topic], stdin=subprocess.PIPE, text=True, bufsize=1
        )

    def publish(self, topic: str) -> int:
        """Sends one message and returns the time in microseconds of the wall clock."""
        now = measure.now_us()
        self.publishers[topic].stdin.write(payload(next(self.numbers)) + "\n")
        return now

    def arrive(self, topic: str) -> None:
        """Sends messages until one starts a task, because a subscriber needs time to connect."""
        end = time.monotonic() + 60
        while not self.starts.count():
            if time.monotonic() > end:
                raise RuntimeError(f"cannot measure: no message of {topic} arrived; {self.bridge.last_words()}")
            self.publish(topic)
            time.sleep(0.2)
        time.sleep(0.5)
        self.starts.clear()

    def late_ms(self, begin) -> float:
        """The time from `begin`, which returns its instant, to the first instruction of the task."""
        self.starts.clear()
        begun = begin()
        self.starts.wait_for(1)
        [at] = self.starts.first_by_task().values()
        return (at - begun) / 1e3

    def push(self, app: str) -> int:
        now = measure.now_us()
        self.refreshd.call("App.Push", app=app, payload=payload(next(self.numbers)))
        return now

    def run(self) -> None:
        apps = itertools.cycle(self.refreshd.apps)
        late = defaultdict(list)
        for number in range(ROUNDS):
            print(f"bench: push, round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
            for _ in range(SAMPLES):
                for way, column, begin in [
                    ("broker", REFRESHD, lambda: self.publish(f"bench/{next(apps)}")),
                    ("broker", YARDSTICK, lambda: self.publish("yardstick")),
                    ("socket", REFRESHD, lambda: self.push(next(apps))),
                ]:
                    with self.missing.attempt(way, column):
                        taken = self.late_ms(begin)
                        late[way, column].append(taken)
        if ("broker", YARDSTICK) in late:
            late["socket", YARDSTICK] = late["broker", YARDSTICK]
        for (way, column), taken in late.items():
            for share, name in ((0.5, "p50"), (0.99, "p99")):
                self.values[f"{way}: publish to the app's first instruction {name}, ms"][column].append(
                    measure.percentile(taken, share)
                )
        for app in self.refreshd.apps:
            self.refreshd.call("App.Signal", app=app, signal="logout")
        for _ in range(ROUNDS):
            self.add("accepted by App.Push, 1 client, messages/s", lambda: self.accept(1, CALLS))
            self.add(f"accepted by App.Push, {CLIENTS} clients, messages/s", lambda: self.accept(CLIENTS, CALLS))
            self.add(f"accepted by Deliver, {BATCH} at a time, messages/s", self.deliver)
        self.add("accepted from the broker, messages/s", self.drain)
        self.add("PSS, MB", lambda: measure.pss(self.bridge.process) / 1e6)
        listening = [self.shell.pid, *children(self.shell.pid)]
        self.values["PSS, MB"][YARDSTICK].append(sum(map(measure.pss, listening)) / 1e6)

    def add(self, figure: str, action: Callable[[], float]) -> None:
        with self.missing.attempt(figure, REFRESHD):
            value = action()
            self.values[figure][REFRESHD].append(value)

    def accept(self, clients: int, calls: int) -> float:
        """Calls a second of several clients, each of which waits for the reply before the next call."""

        def call(numbers):
            client = Client(self.refreshd.socket)
            for number in numbers:
                client.call("App.Push", app=self.refreshd.apps[number % APPS], payload=payload(number % 1000))
            client.close()

        threads = [threading.Thread(target=call, args=[range(one, calls * clients, clients)]) for one in range(clients)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return calls * clients / (time.perf_counter() - begin)

    def deliver(self) -> float:
        rounds = MESSAGES // BATCH
        batches = [
            [{"app": self.refreshd.apps[number % APPS], "payload": payload(number % 1000)} for number in range(BATCH)]
            for _ in range(rounds)
        ]
        begin = time.perf_counter()
        for batch in batches:
            self.refreshd.call("Push.Deliver", deliveries=batch)
        return rounds * BATCH / (time.perf_counter() - begin)

    def drain(self) -> float:
        """Messages a second from the start of the bridge, for which the broker has kept all messages."""
        self.bridge.stop()
        share = MESSAGES // APPS
        for app in self.refreshd.apps:
            for number in range(share):
                self.publishers[f"bench/{app}"].stdin.write(payload(number) + "\n")
        time.sleep(3)  # until the broker has acknowledged them
        before = self.taken()
        self.bridge.start()
        begin = time.perf_counter()
        while self.taken() - before < MESSAGES:
            if time.perf_counter() - begin > 60:
                raise RuntimeError(f"cannot measure: {self.taken() - before} of {MESSAGES} messages came in 60 s")
            time.sleep(0.02)
        return MESSAGES / (time.perf_counter() - begin)

    def taken(self) -> int:
        text = self.refreshd.call("Manager.Metrics")["text"]
        lines = [line.split() for line in text.splitlines() if line.startswith("refreshd_pushes_total")]
        return sum(int(float(value)) for name, value in lines if any(fate in name for fate in ('"queued"', '"merged"')))

    def rows(self) -> list[list[str]]:
        rows = []
        for figure, columns in self.values.items():
            value = {column: statistics.median(taken) for column, taken in columns.items()}
            ratio = f"{value[REFRESHD] / value[YARDSTICK]:.2f}" if value.keys() >= set(COLUMNS) else "-"
            rows.append([figure, *(shown(value.get(each)) for each in COLUMNS), ratio])
        return rows

    def stop(self) -> None:
        self.bridge.stop()
        self.refreshd.stop()
        for process in reversed(self.processes):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait()


def children(process: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="the directory of refreshd and refresh-push")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refreshd-bench.", dir="/var/tmp") as directory:
        bench = Bench(arguments.programs.resolve(), Path(directory))
        try:
            with bench.missing.attempt("the rest", "all"):
                bench.start()
                bench.run()
        finally:
            bench.stop()
    rows = [["push", *COLUMNS, "ratio"], *bench.rows()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(*("  ".join(align(cells, widths)).rstrip() for cells in rows), *bench.missing.notes, sep="\n")


main()
