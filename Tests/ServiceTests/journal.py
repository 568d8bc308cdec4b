"""systemd's journal, from a moment on."""

import json
import pathlib
import re
import select
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The ids of the message catalogue, by the names of Sources/RefreshDaemon/Journal/MessageID.swift: `daemonReady` and others.
MESSAGE_ID = dict(
    re.findall(
        r"case (\w+) = 0x([0-9a-f]{32})", (ROOT / "Sources/RefreshDaemon/Journal/MessageID.swift").read_text()
    )
)


class Journal:
    # journalctl does not filter: with --after-cursor= it skips the first entry that matches.

    def __init__(self):
        self.cursor = self._newest()

    def entries(self, **fields):
        """All entries since then with these fields, as dictionaries."""
        subprocess.run(["journalctl", "--sync"], check=True)
        lines = subprocess.run(self._command(), check=True, capture_output=True, text=True).stdout.splitlines()
        return [entry for entry in map(json.loads, lines) if fields.items() <= entry.items()]

    def wait(self, kind, count=1, seconds=30, **fields):
        """The entry number `count` of a kind of the catalogue with these fields; waits for it."""
        fields["MESSAGE_ID"] = MESSAGE_ID[kind]
        end = time.monotonic() + seconds
        command = self._command("--follow", "--no-tail")
        with subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0) as follower:
            try:
                while select.select([follower.stdout], [], [], max(0, end - time.monotonic()))[0]:
                    entry = json.loads(follower.stdout.readline())
                    count -= fields.items() <= entry.items()
                    if count == 0:
                        return entry
            finally:
                follower.kill()
        raise AssertionError(f"no entry {kind} with {fields} in {seconds} s")

    def text(self):
        """The text of all entries since then."""
        subprocess.run(["journalctl", "--sync"], check=True)
        command = ["journalctl", "--output=short-precise", f"--after-cursor={self.cursor}"]
        return subprocess.run(command, capture_output=True, text=True).stdout

    def _command(self, *options):
        return ["journalctl", "--output=json", f"--after-cursor={self.cursor}", *options]

    @staticmethod
    def _newest():
        subprocess.run(["journalctl", "--sync"], check=True)
        command = ["journalctl", "--lines=0", "--show-cursor"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return output.split("-- cursor: ")[1].strip()
