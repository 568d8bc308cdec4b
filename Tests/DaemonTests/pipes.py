"""Named pipes between a test and the tasks of its daemon."""

import os

from waiting import BOUND, wait_for


class Pipe:
    """Lines from tasks to the test (`echo started > PATH`), or permission from the test for tasks to go on."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        # Tasks may run as any user.
        os.chmod(path, 0o666)
        # Open both ends, so that the pipe never reaches its end and nobody blocks in open(2).
        self.descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self.rest = b""

    def __str__(self):
        return str(self.path)

    def close(self):
        os.close(self.descriptor)

    def line(self, within=BOUND):
        """Waits for the next line, for at most this number of seconds."""
        while b"\n" not in self.rest:
            wait_for([self.descriptor], f"a line in {self.path.name}", within)
            self.rest += os.read(self.descriptor, 65536)
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def lines(self, count):
        return [self.line() for _ in range(count)]

    def lines_so_far(self):
        """The unread bytes; does not wait."""
        try:
            self.rest += os.read(self.descriptor, 65536)
        except BlockingIOError:
            pass
        *lines, self.rest = self.rest.split(b"\n")
        return [line.decode() for line in lines]

    def let_go(self, count=1):
        """Lets this number of tasks go on that wait with `read _ < PATH`."""
        os.write(self.descriptor, b"\n" * count)
