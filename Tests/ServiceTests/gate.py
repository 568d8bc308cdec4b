"""Gates at which tasks wait for a test, or a test for tasks."""

import os
import select


class Gate:
    """A task waits at the gate with `read _ < PATH`, or opens it for the test with `echo > PATH`."""

    def __init__(self, path):
        os.mkfifo(path)
        # Tasks run as any user.
        os.chmod(path, 0o666)
        self.path = path
        # Open both ends, so that nobody blocks in open(2).
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def __str__(self):
        return str(self.path)

    def open(self):
        """Lets one task go on."""
        os.write(self.descriptor, b"\n")

    def wait(self, seconds=30):
        """Waits until a task opens the gate."""
        assert select.select([self.descriptor], [], [], seconds)[0], f"nobody came to {self.path} in {seconds} s"
        os.read(self.descriptor, 1)

    def close(self):
        os.close(self.descriptor)
        os.unlink(self.path)
