"""A program under test: its process, what it tells the service manager, and what it says."""

import os
import signal
import subprocess
import threading

from notices import NotifySocket
from processes import wait_for_end
from waiting import BOUND


class Program:
    """A program that tells at the path `notify` when it is ready (sd_notify(3))."""

    def __init__(self, notify):
        self.notices = NotifySocket(notify)
        self.said = []
        self.has_said = threading.Condition()
        self.process = None

    @property
    def command(self):
        """The program and the options that it is started with."""
        raise NotImplementedError

    @property
    def name(self):
        return os.path.basename(self.command[0])

    def launch(self, *options, prefix=(), environment=None):
        """Starts the process and waits for nothing."""
        own = {"PATH": os.environ["PATH"], "NOTIFY_SOCKET": str(self.notices.path), **(environment or {})}
        self.process = subprocess.Popen(
            [*prefix, *self.command, *options],
            env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        threading.Thread(target=self.listen, args=[self.process.stdout], daemon=True).start()

    def start(self, *options, **surroundings):
        """Starts the process, waits until it is ready, and gives the message that says so."""
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
        """Starts the process where it must not start, and gives its exit code and what it said."""
        said = len(self.said)
        self.launch(*options, **surroundings)
        code = self.wait()
        return code, "\n".join(self.said[said:])

    def signal(self, number):
        os.kill(self.pid, number)

    def wait(self):
        """Waits for the process to end and for its last line, and gives its exit code."""
        code = self.process.wait(timeout=BOUND)
        with self.has_said:
            assert self.has_said.wait_for(lambda: self.process.stdout.closed, BOUND)
        return code

    def stop(self):
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self):
        """Kills it with SIGKILL, as the kernel does when memory runs out."""
        self.signal(signal.SIGKILL)
        wait_for_end(self.pid)
        self.wait()

    def restart(self):
        assert self.stop() == 0
        self.start()

    def end(self):
        """Ends it whatever it does, when a test is over."""
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.wait()

    def close(self):
        self.end()
        self.notices.close()

    # What it says.

    def listen(self, stream):
        for line in stream:
            with self.has_said:
                self.said.append(line.decode(errors="replace").rstrip("\n"))
                self.has_said.notify_all()
        with self.has_said:
            stream.close()
            self.has_said.notify_all()

    def wait_until_said(self, text, times=1):
        """Waits until the program has told the journal this, so many times in all."""
        with self.has_said:
            assert self.has_said.wait_for(
                lambda: sum(text in line for line in self.said) >= times, BOUND
            ), f"{self.name} did not say {text!r} {times} times"
