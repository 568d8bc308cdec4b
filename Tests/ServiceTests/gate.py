"""Gates at which tasks wait until a test lets them go on, or a test for tasks."""

import os
import select


class Gate:
    """A task waits at it with `read _ < PATH`, or opens it for the test with `echo > PATH`."""

    def __init__(self, path):
        os.mkfifo(path)
        # Tasks run as any user.
        os.chmod(path, 0o666)
        self.path = path
        # Both ends, so that nobody waits in open(2).
        self.descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def __str__(self):
        return str(self.path)

    def open(self):
        """Lets one task go on."""
        os.write(self.descriptor, b"\n")

    def wait(self, seconds=30):
        """Waits until a task opens it."""
        assert select.select([self.descriptor], [], [], seconds)[0], f"nobody came to {self.path} in {seconds} s"
        os.read(self.descriptor, 1)

    def close(self):
        os.close(self.descriptor)
        os.unlink(self.path)
