"""A program under test: its process, its messages to the service manager, and its output."""

import os
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
        self.output = []
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
        before = len(self.output)
        self.launch(*options, **surroundings)
        code = self.wait()
        return code, "\n".join(self.output[before:])

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
        for line in stream:
            with self.has_said:
                self.output.append(line.decode(errors="replace").rstrip("\n"))
                self.has_said.notify_all()
        with self.has_said:
            stream.close()
            self.has_said.notify_all()

    def wait_for_output(self, text, times=1, within=BOUND):
        """Waits until the program has written this text to the journal, this number of times in all, for at most this
        number of seconds."""
        with self.has_said:
            assert self.has_said.wait_for(
                lambda: sum(text in line for line in self.output) >= times, within
            ), f"{self.name} did not say {text!r} {times} times"
