"""The common parts of the distribution's web servers: files, a configuration of their own, an end."""

import os
import select
import signal
import subprocess

from .body import Body


class WebServer:
    """A server that goes into the background once its ports are open, so that the test can wait for its start."""

    def __init__(self, directory, start):
        self.directory = directory
        self.files = directory / "files"
        self.uploads = directory / "uploads"
        self.pid_file = directory / "pid"
        self.files.mkdir(parents=True)
        self.uploads.mkdir()
        # Servers that root starts drop to this user.
        self.uploads.chmod(0o777)
        self.run(start)

    @staticmethod
    def run(start):
        subprocess.run(
            start, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=30
        )

    def file(self, name, size, version=1, age=86400):
        """Writes a file, modified this many seconds ago, and returns its body. Another version replaces it."""
        body = Body(size, version)
        new = self.files / f".{name}"
        body.write(new)
        new.chmod(0o644)
        changed = new.stat().st_mtime - age
        os.utime(new, (changed, changed))
        new.rename(self.files / name)
        return body

    def close(self):
        pid = int(self.pid_file.read_text())
        process = os.pidfd_open(pid)
        os.kill(pid, signal.SIGTERM)
        poll = select.poll()
        poll.register(process, select.POLLIN)
        ended = poll.poll(15000)
        os.close(process)
        assert ended, f"{type(self).__name__} did not end"
