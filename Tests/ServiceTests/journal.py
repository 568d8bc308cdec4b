"""systemd's journal, from one moment on."""

import json
import pathlib
import re
import select
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]

# The ids of the message catalogue, by the names of Sources/RefreshDaemon/MessageID.swift: `daemonReady` and others.
MESSAGE_ID = dict(
    re.findall(
        r"case (\w+) = 0x([0-9a-f]{32})", (ROOT / "Sources/RefreshDaemon/MessageID.swift").read_text()
    )
)


class Journal:
    def __init__(self):
        self.cursor = self._newest()

    def entries(self, *matches):
        """All entries since then that match, each a dictionary of its fields."""
        subprocess.run(["journalctl", "--sync"], check=True)
        command = ["journalctl", "--output=json", f"--after-cursor={self.cursor}", *matches]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        return [json.loads(line) for line in lines]

    def wait(self, kind, *matches, count=1, seconds=30):
        """The entry number `count` of a kind of the catalogue; waits until it is there."""
        command = [
            "journalctl", "--follow", "--no-tail", "--output=json", f"--after-cursor={self.cursor}",
            f"MESSAGE_ID={MESSAGE_ID[kind]}", *matches,
        ]
        end = time.monotonic() + seconds
        with subprocess.Popen(command, stdout=subprocess.PIPE) as follower:
            try:
                while select.select([follower.stdout], [], [], max(0, end - time.monotonic()))[0]:
                    line = follower.stdout.readline()
                    count -= 1
                    if count == 0:
                        return json.loads(line)
            finally:
                follower.kill()
        raise AssertionError(f"no entry {kind} {' '.join(matches)} in {seconds} s")

    def text(self):
        """All since then as a person reads it."""
        command = ["journalctl", "--output=short-precise", f"--after-cursor={self.cursor}"]
        return subprocess.run(command, capture_output=True, text=True).stdout

    @staticmethod
    def _newest():
        subprocess.run(["journalctl", "--sync"], check=True)
        command = ["journalctl", "--lines=0", "--show-cursor"]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        return output.split("-- cursor: ")[1].strip()
