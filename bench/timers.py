"""systemd timers that do the work of refreshd's apps, in a throwaway systemd."""

import bisect
import contextlib
import json
import socket
import subprocess
import sys
import time
from pathlib import Path

import measure
from service import Burst, TooLate, burst


class Timers:
    """A client of timers_inside.py: each method is one question to that program."""

    def __init__(self, with_systemd: Path, programs: Path, scratch: Path, starts: measure.Starts):
        self.starts = starts
        self.is_lost = False
        here = Path(__file__).resolve().parent
        path = scratch / "timers.socket"
        self.log = scratch / "timers.log"
        with socket.socket(socket.AF_UNIX) as server, self.log.open("w") as log:
            server.bind(str(path))
            server.listen()
            server.settimeout(0.1)
            inside = [sys.executable, "-B", str(here / "timers_inside.py"), str(path)]
            self.process = subprocess.Popen(
                [str(with_systemd), "-b", str(scratch), "-b", str(here), "-b", str(programs), "--", *inside],
                cwd=scratch, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            connection = self._accept(server)
            connection.settimeout(120)
            self.stream = connection.makefile("rw")

    def _accept(self, server: socket.socket) -> socket.socket:
        end = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < end:
            try:
                return server.accept()[0]
            except TimeoutError:
                continue
        self.process.terminate()
        raise RuntimeError(f"systemd is not measured: {self.last_words()}")

    def last_words(self) -> str:
        return self.log.read_text().strip()[-300:] or "it ended without a word"

    def ask(self, word: str, *arguments):
        try:
            print(json.dumps([word, *arguments]), file=self.stream, flush=True)
            answer = self.stream.readline()
        except OSError:
            self.is_lost = True  # a late answer would be taken for that of the next question
            raise
        if not answer:
            self.is_lost = True
            raise RuntimeError(f"cannot go on with systemd: {self.last_words()}")
        decoded = json.loads(answer)
        if "failure" in decoded:
            raise RuntimeError(f"cannot measure systemd: {decoded['failure']}")
        return decoded["value"]

    def due_one(self, samples: int) -> list[float]:
        """Lateness in milliseconds of one timer that is due alone, again every 200 ms.

        A timer that elapses while its service still runs does not start it again: on a busy machine some are missing.
        """
        first = measure.now_us() + 2_000_000
        dues = [first + 200_000 * sample for sample in range(samples)]
        self.ask("make_due", 1, dues)
        self.starts.clear()
        time.sleep((dues[-1] - measure.now_us()) / 1e6 + 1)
        began = [int(line.split()[1]) for line in self.starts.path.read_text().splitlines()]
        late = [(start - dues[bisect.bisect(dues, start) - 1]) / 1e3 for start in began if start >= first]
        if len(late) < samples // 2:
            raise RuntimeError(f"cannot measure systemd: {len(late)} of {samples} tasks started")
        return late

    def due_all(self, count: int, in_us: int) -> Burst:
        try:
            return self._due_all(count, in_us)
        except TooLate:
            return self._due_all(count, 5 * in_us)

    def _due_all(self, count: int, in_us: int) -> Burst:
        at = measure.now_us() + in_us
        self.ask("make_due", count, [at])
        return burst({f"{number:04}": at for number in range(count)}, self.starts, lambda: self.ask("cpu_us"))

    def drained(self, count: int, in_us: int, starts: measure.Starts) -> float:
        """Starts a second from one due instant to the last start."""
        at = measure.now_us() + in_us
        self.ask("make_due", count, [at])
        starts.clear()
        starts.wait_for(count)
        return count / (measure.now_us() - at) * 1e6

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.stream.close()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
