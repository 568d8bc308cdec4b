"""Measures background transfers against curl, wget and aria2c in one run: `make bench`, or

    transfers.py --programs DIR

DIR has refreshd and refresh-worker of a release build. nginx serves one file of 1 GiB and 1,000 files of 100 KiB from
loopback. All four download them to /var/tmp, in rounds that alternate. Each figure is the median. CPU time is of all
processes of a program.

- Time: for refreshd from the call of Enqueue to the first instruction of the app that it wakes; for the others from
  start to exit. refreshd has synced its files by then. The others have not, so a second column has curl and then sync.
- Many files: curl and aria2c load as many at once as refreshd (max_per_host), wget loads one after the other.
- CPU of the daemon: refreshd without its worker, as a share of the time of the transfer.
- Last byte to the app: from the end of the last response, by nginx's log, to the app's first instruction.

A figure that cannot be taken stays empty, and a note below the table gives the reason.
"""

import argparse
import hashlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

import measure
from refreshd import Refreshd
from table import align, shown

HERE = Path(__file__).resolve().parent
GIB = 1 << 30
MANY, SMALL = 1000, 100 << 10
AT_ONCE = 6
ROUNDS = 5
REFRESHD, CURL, SYNCED, WGET, ARIA2 = COLUMNS = ("refreshd", "curl", "curl, sync", "wget", "aria2c")

NGINX = """\
user root;
daemon off;
worker_processes 1;
error_log stderr;
pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  log_format ends "$msec";
  access_log {folder}/ends.log ends;
  sendfile on;
  keepalive_requests 10000;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}/www; }}
}}
"""


class Nginx:
    def __init__(self, folder: Path, port: int):
        self.folder, self.url = folder, f"http://127.0.0.1:{port}"
        www = folder / "www"
        www.mkdir(parents=True)
        block = b"".join(hashlib.sha256(number.to_bytes(4, "big")).digest() for number in range(1 << 15))
        with (www / "big").open("wb") as file:
            for _ in range(GIB // len(block)):
                file.write(block)
        for number in range(MANY):
            (www / f"{number:04}").write_bytes(block[number : number + SMALL])
        os.sync()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        self.process = subprocess.Popen(["nginx", "-c", str(folder / "nginx.conf"), "-e", "stderr"])
        end = time.monotonic() + 60
        while subprocess.run(["curl", "-sfo", "/dev/null", f"{self.url}/0000"]).returncode:
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("cannot measure: nginx does not serve")
            time.sleep(0.02)

    def last_end(self) -> float:
        """The time of the last response, in seconds of the wall clock."""
        return float((self.folder / "ends.log").read_text().split()[-1])

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


class Bench:
    def __init__(self, programs: Path, scratch: Path):
        self.scratch, self.target = scratch, scratch
        self.numbers = itertools.count()
        task = scratch / "task"
        options = ["-static", "-nostdlib", "-fno-stack-protector"]
        subprocess.run(["cc", "-O2", *options, "-o", str(task), str(HERE / "task.c")], check=True)
        self.starts = measure.Starts(scratch / "starts")
        self.nginx = Nginx(scratch / "nginx", measure.free_port())
        command = [str(task), str(self.starts.path), "%04d"]
        notify = measure.Notify(scratch / "notify.socket")
        self.refreshd = Refreshd(programs / "refreshd", scratch, "refreshd", 1, command, self.starts, notify)
        self.values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.missing = measure.Missing()

    def add(self, figure: str, column: str, value: float) -> None:
        self.values[figure][column].append(value)

    def run(self) -> None:
        self.refreshd.start()
        for number in range(ROUNDS):
            print(f"bench: transfers, round {number + 1} of {ROUNDS}", file=sys.stderr, flush=True)
            for work, names in {"1 GiB": ["big"], "1,000 x 100 KiB": [f"{each:04}" for each in range(MANY)]}.items():
                with self.missing.attempt(work, REFRESHD):
                    self.by_refreshd(work, names)
                for column, arguments in self.peers(names).items():
                    with self.missing.attempt(work, column):
                        self.by_peer(work, column, arguments, names)

    def clear(self) -> None:
        """Makes a new folder for each download, because file systems are slower in a folder with recent removals."""
        self.target = self.scratch / f"target-{next(self.numbers)}"
        self.target.mkdir()
        os.sync()

    def check(self, names: list[str], who: str) -> None:
        for name in names:
            want = GIB if name == "big" else SMALL
            if not (self.target / name).exists() or (self.target / name).stat().st_size != want:
                raise RuntimeError(f"cannot measure {who}: {name} did not arrive")

    def by_refreshd(self, work: str, names: list[str]) -> None:
        self.clear()
        self.starts.clear()
        [app] = self.refreshd.apps
        requests = [
            {"url": f"{self.nginx.url}/{name}", "path": str(self.target / name), "network": "none"} for name in names
        ]
        own, cpu = own_cpu(self.refreshd.process), self.refreshd.cpu_us()
        begin = measure.now_us()
        self.refreshd.call("Transfers.Enqueue", app=app, transfers=requests)
        peak, patience = 0, time.monotonic() + 300
        while not self.starts.count():
            if time.monotonic() > patience:
                raise RuntimeError(f"the files did not arrive in 300 s; {self.refreshd.last_words()}")
            peak = max(peak, peak_of_worker(self.refreshd.process))
            time.sleep(0.005)
        end = self.starts.first_by_task()["0000"]
        self.check(names, REFRESHD)
        taken = (end - begin) / 1e6
        self.add(f"{work}: s", REFRESHD, taken)
        self.add(f"{work}: CPU s", REFRESHD, (self.refreshd.cpu_us() - cpu) / 1e6)
        self.add(f"{work}: peak RSS, MB", REFRESHD, peak / 1e6)
        share = (own_cpu(self.refreshd.process) - own) / taken
        self.add(f"{work}: CPU of the daemon, % of the time", REFRESHD, share * 100)
        self.add(f"{work}: last byte to the app, ms", REFRESHD, end / 1e3 - self.nginx.last_end() * 1e3)
        while peak_of_worker(self.refreshd.process):
            if time.monotonic() > patience:
                raise RuntimeError("the worker did not end")
            time.sleep(0.05)

    def peers(self, names: list[str]) -> dict[str, list[str]]:
        """The command lines that download these files into the current folder."""
        urls = [f"{self.nginx.url}/{name}" for name in names]
        (self.scratch / "urls").write_text("\n".join(urls) + "\n")
        (self.scratch / "curl").write_text("".join(f'url = "{url}"\nremote-name\n' for url in urls))
        at_once = ["--parallel", "--parallel-max", str(AT_ONCE)] if len(names) > 1 else []
        curl = ["curl", "--silent", "--fail", *at_once, "--config", str(self.scratch / "curl")]
        aria2 = ["aria2c", "-q", "--file-allocation=none", "-x1", "-j", str(AT_ONCE), "-i", str(self.scratch / "urls")]
        # sync(1) makes one file durable by its name, and many by their file system.
        synced = f'"$@" && sync {"big" if len(names) == 1 else "--file-system ."}'
        return {
            CURL: curl,
            SYNCED: ["sh", "-c", synced, "sh", *curl],
            WGET: ["wget", "-q", "-i", str(self.scratch / "urls")],
            ARIA2: aria2,
        }

    def by_peer(self, work: str, column: str, arguments: list[str], names: list[str]) -> None:
        self.clear()
        begin = time.perf_counter()
        process = subprocess.Popen(arguments, cwd=self.target, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        taken = time.perf_counter() - begin
        if status:
            raise RuntimeError(f"cannot measure {column}: it ended with {status}")
        self.check(names, column)
        self.add(f"{work}: s", column, taken)
        self.add(f"{work}: CPU s", column, usage.ru_utime + usage.ru_stime)
        self.add(f"{work}: peak RSS, MB", column, usage.ru_maxrss * 1024 / 1e6)

    def rows(self) -> list[list[str]]:
        rows = []
        for figure, columns in self.values.items():
            value = {column: statistics.median(taken) for column, taken in columns.items() if taken}
            goal, met, ratio = "", "", "-"
            if REFRESHD in value and CURL in value:
                ratio = f"{value[REFRESHD] / value[CURL]:.2f}"
            try:
                if figure == "1 GiB: s":
                    goal, met = "≤ curl / 0.95", value[REFRESHD] <= value[CURL] / 0.95
                elif figure == "1,000 x 100 KiB: s":
                    goal, met = "< all three", value[REFRESHD] < min(value[each] for each in (CURL, WGET, ARIA2))
                elif "1 GiB: CPU of the daemon" in figure:
                    goal, met = "< 1", value[REFRESHD] < 1
            except KeyError:
                met = "?"
            cells = (shown(value.get(each)) for each in COLUMNS)
            rows.append([figure, *cells, ratio, goal, {True: "yes", False: "NO"}.get(met, met)])
        return rows

    def stop(self) -> None:
        self.refreshd.stop()
        self.nginx.stop()


def own_cpu(process: int) -> float:
    """User and system time of one process, in seconds (proc_pid_stat(5))."""
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_of_worker(daemon: int) -> int:
    """The peak memory of the daemon's worker in bytes; 0 if there is no worker."""
    try:
        for child in Path(f"/proc/{daemon}/task/{daemon}/children").read_text().split():
            status = Path(f"/proc/{child}/status").read_text()
            if status.startswith("Name:\trefresh-worker"):
                return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        pass
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=Path, required=True, help="the directory of refreshd and refresh-worker")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="refreshd-bench.", dir="/var/tmp") as directory:
        bench = Bench(arguments.programs.resolve(), Path(directory))
        try:
            with bench.missing.attempt("the rest", "all"):
                bench.run()
        finally:
            bench.stop()
    rows = [["transfers", *COLUMNS, "of curl", "goal", "met"], *bench.rows()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(*("  ".join(align(cells, widths)).rstrip() for cells in rows), *bench.missing.notes, sep="\n")


main()
