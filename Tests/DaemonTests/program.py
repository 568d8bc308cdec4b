"""A program under test: its process, its messages to the service manager, and its output."""

import os
import select
import signal
import subprocess
import threading

from notices import NotifySocket
from processes import wait_for_end
from waiting import BOUND


class Program:
    """A program that reports its readiness to the socket `notify` (sd_notify(3))."""

    def __init__(self, notify):
        self.notices = NotifySocket(notify)
        self._bytes = bytearray()
        self.has_said = threading.Condition()
        self.process = None

    @property
    def command(self):
        """The program and its options."""
        raise NotImplementedError

    @property
    def name(self):
        return os.path.basename(self.command[0])

    def launch(self, *options, prefix=(), environment=None):
        """Starts the process; does not wait."""
        own = {"PATH": os.environ["PATH"], "NOTIFY_SOCKET": str(self.notices.path), **(environment or {})}
        self.process = subprocess.Popen(
            [*prefix, *self.command, *options],
            env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        threading.Thread(target=self.listen, args=[self.process.stdout], daemon=True).start()

    def start(self, *options, **surroundings):
        """Starts the process, waits until it is ready, and returns the message that reports it."""
        self.launch(*options, **surroundings)
        end = os.pidfd_open(self.process.pid)
        try:
            ready = self.notices.wait("READY", or_end_of=end)
        finally:
            os.close(end)
        assert ready, f"{self.name} ended before it was ready"
        self.pid = ready.pid
        return ready

    def refuse(self, *options, **surroundings):
        """Starts the process, which must refuse to start, and returns its exit code and its output."""
        before = len(self.written())
        self.launch(*options, **surroundings)
        code = self.wait()
        return code, "\n".join(self.written()[before:])

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        """Waits for the end of the process and for its last line; returns its exit code."""
        code = self.process.wait(timeout=BOUND)
        with self.has_said:
            assert self.has_said.wait_for(lambda: self.process.stdout.closed, BOUND)
        return code

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        """Sends SIGKILL, as the kernel does when memory runs out."""
        self.signal(signal.SIGKILL)
        wait_for_end(self.pid)
        self.wait()

    def restart(self):
        assert self.stop() == 0
        self.start()

    def end(self):
        """Ends the process in any case, after a test."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.wait()

    def close(self):
        self.end()
        self.notices.close()

    # Output.

    def listen(self, stream):
        while not self._drain(stream):
            is_readable(stream, None)
        with self.has_said:
            stream.close()
            self.has_said.notify_all()

    def _drain(self, stream):
        """Takes what is in the pipe, and says whether it has ended."""
        with self.has_said:
            while not stream.closed and is_readable(stream, 0):
                if not (data := os.read(stream.fileno(), 1 << 16)):
                    return True
                self._bytes += data
                self.has_said.notify_all()
            return stream.closed

    def written(self):
        """All lines that the program has written up to now, to count them or to show that something is not among them.
        Lines that it has yet to write are missing: wait_for_output waits for them."""
        with self.has_said:
            if self.process:
                self._drain(self.process.stdout)
            return self._bytes.decode(errors="replace").rstrip("\n").split("\n") if self._bytes else []

    def wait_for_output(self, text, times=1, within=BOUND):
        """Waits until the program has written this text to the journal, this number of times in all, for at most this
        number of seconds."""
        with self.has_said:
            assert self.has_said.wait_for(
                lambda: sum(text in line for line in self.written()) >= times, within
            ), f"{self.name} did not say {text!r} {times} times"


def is_readable(stream, milliseconds):
    """Whether there is something to read, or the end, within that time."""
    poll = select.poll()
    poll.register(stream, select.POLLIN)
    return bool(poll.poll(milliseconds))
