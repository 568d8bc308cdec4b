"""The conditions of the machine as the daemon sees them: the program conditions-probe."""

import json
import pathlib
import select
import signal
import subprocess
import time


class Probe:
    """The running program; `state` has its last line about each fact."""

    def __init__(self, program, *arguments, **options):
        self.started = time.monotonic()
        self.state = {}
        self.process = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, bufsize=0, **options)

    def next(self, seconds=10):
        """The next line as a dictionary; None after the timeout."""
        if not select.select([self.process.stdout], [], [], max(0, seconds))[0]:
            return None
        line = json.loads(self.process.stdout.readline())
        self.state[line["event"]] = line
        return line

    def wait(self, event, seconds=10, **wanted):
        """Waits until a fact has these values: `source`, `value`, a `problem` with these words, or some of them."""
        end = time.monotonic() + seconds
        while not self._is(event, **wanted):
            assert self.next(end - time.monotonic()), f"{event} is {self.state.get(event)}, and not {wanted}"
        return self.state[event]

    def _is(self, event, **wanted):
        line = self.state.get(event)
        if line is None:
            return False
        problem = wanted.pop("problem", "")
        value = line.get("value")
        seen = {"source": line.get("source"), "value": value, **(value if isinstance(value, dict) else {})}
        return problem in line.get("problem", "") and all(seen.get(key) == wanted[key] for key in wanted)

    def wait_line(self, seconds=10, **fields):
        """Waits for a line with these fields."""
        end = time.monotonic() + seconds
        while line := self.next(end - time.monotonic()):
            if fields.items() <= line.items():
                return line
        raise AssertionError(f"no line {fields} in {seconds} s; the last ones: {self.state}")

    def is_silent(self, seconds):
        """Whether no line arrives for this long."""
        return self.next(seconds) is None

    def sources(self):
        """The text of `refreshctl status` about the sources: (fact, name) to text."""
        self.process.send_signal(signal.SIGUSR1)
        sources = {}
        while (line := self.next()) and line["event"] != "sources":
            if line["event"] == "source":
                sources[line["fact"], line["name"]] = line["text"]
        return sources

    def reload_without_needs(self):
        """Behaves as a daemon whose apps no longer have constraints."""
        self.process.send_signal(signal.SIGHUP)

    def wakes(self):
        """The number of waits of the process since its start."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("voluntary_ctxt_switches:")[1].split()[0])

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
