"""The daemon under test: its files, its process, its socket, and what it says."""

import json
import os
import pathlib
import signal
import subprocess
import threading

from client import Client
from notices import NotifySocket
from pipes import Pipe
from processes import wait_for_end
from waiting import BOUND, Bound, wait_for

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
REFRESHD = pathlib.Path(os.environ.get("BIN_DIR", REPOSITORY / ".build/debug")).absolute() / "refreshd"
# What starts the tasks; "systemd" only under one that is not the machine's (`make test-service`).
LAUNCHER = os.environ.get("LAUNCHER", "spawn")
TODO = "org.example.todo"
MAIL = "org.example.mail"
# Tests are in a hurry: every interval that they ask for is allowed.
HURRY = 'foreground_floor = "1ms"\nbackground_floor = "1ms"\nsettle = "0s"\n'


class Daemon:
    def __init__(self, directory):
        self.directory = directory
        self.config = directory / "config"
        self.state = directory / "state"
        self.socket = directory / "socket"
        self.notices = NotifySocket(directory / "notify")
        self.pipes = []
        self.said = []
        self.has_said = threading.Condition()
        self.process = None
        self.client = Client(self.socket)
        (self.config / "apps.d").mkdir(parents=True)
        self.configure(HURRY)

    # Its files.

    def configure(self, text):
        (self.config / "refreshd.toml").write_text(f'launcher = "{LAUNCHER}"\n{text}')

    def app(self, *tasks, id=TODO, **keys):
        """Writes the file of an app. A task is a shell command or its table; nothing runs unless `keys` say so,
        and the interval is the schedule."""
        keys = {"id": id, "foreground_interval": "never", "background_interval": "never", "adaptive": False, **keys}
        lines = [f"{key} = {toml(value)}" for key, value in keys.items()]
        for number, task in enumerate(tasks):
            table = task if isinstance(task, dict) else {"name": f"task{number}", "shell": task}
            lines += ["[[task]]"] + [f"{key} = {toml(value)}" for key, value in table.items()]
        self.file(id).write_text("\n".join(lines) + "\n")

    def file(self, id=TODO):
        return self.config / "apps.d" / f"{id}.toml"

    def pipe(self, name):
        """A pipe to hear of tasks by, or to hold them up with."""
        pipe = Pipe(self.directory / name)
        self.pipes.append(pipe)
        return pipe

    # Its process.

    def launch(self, *options, prefix=(), environment=None):
        """Starts the process and waits for nothing."""
        command = [*prefix, REFRESHD, "--config", self.config, "--state", self.state, "--socket", self.socket]
        own = {"PATH": os.environ["PATH"], "NOTIFY_SOCKET": str(self.notices.path), **(environment or {})}
        self.process = subprocess.Popen(
            [*command, *options], env=own, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        threading.Thread(target=self.listen, args=[self.process.stdout], daemon=True).start()

    def start(self, *options, **surroundings):
        """Starts the process, waits until it is ready, and gives the message that says so."""
        self.launch(*options, **surroundings)
        end = os.pidfd_open(self.process.pid)
        try:
            ready = self.notices.wait("READY", or_end_of=end)
        finally:
            os.close(end)
        assert ready, "refreshd ended before it was ready"
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
        for pipe in self.pipes:
            pipe.close()

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
        """Waits until the daemon has told the journal this, so many times in all."""
        with self.has_said:
            assert self.has_said.wait_for(
                lambda: sum(text in line for line in self.said) >= times, BOUND
            ), f"refreshd did not say {text!r} {times} times"

    # Its socket.

    def call(self, method, **parameters):
        return self.client.call(method, **parameters)

    def tell(self, signal, app=TODO):
        """Sends a lifecycle signal and gives the phase."""
        return self.call("App.Signal", app=app, signal=signal)["phase"]

    def lease(self, signal, app=TODO):
        return self.client.stream("App.Signal", app=app, signal=signal, lease=True)

    def show(self, app=TODO):
        return self.call("Manager.Show", app=app)["app"]

    def status(self):
        return self.call("Manager.Status")["status"]

    def history(self, app=TODO, **limit):
        return self.call("Manager.History", app=app, **limit)["refreshes"]

    def settle(self, app=TODO):
        """Waits until all that has happened so far is on disk: setting nothing is answered only then."""
        self.call("Manager.Set", apps=[app])

    def refresh(self, app=TODO, **trigger):
        """Has the app refreshed and gives what the refresh did."""
        return self.call("Manager.Run", app=app, **trigger)["event"]["refresh"]

    def run(self, app=TODO, **trigger):
        """Has the app refreshed and gives the stream of events; the first has come."""
        return self.client.stream("Manager.Run", app=app, **trigger)


def finished(stream):
    """Waits for the end of a stream of Run, and gives what the refresh did."""
    return [answer["event"] for answer in stream][-1]["refresh"]


def toml(value):
    """A value as TOML has it; its strings, numbers and arrays are those of JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)
