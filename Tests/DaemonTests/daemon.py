"""The daemon under test: its files, its process, its socket and its output."""

import json
import os
import pathlib

from client import Client
from pipes import Pipe
from program import Program

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
REFRESHD = pathlib.Path(os.environ.get("BIN_DIR", REPOSITORY / ".build/debug")).absolute() / "refreshd"
# The launcher of the tasks. Use "systemd" only in a throwaway machine (`Tests/run units`).
LAUNCHER = os.environ.get("LAUNCHER", "spawn")
TODO = "org.example.todo"
MAIL = "org.example.mail"
# Tests use short intervals, so there is no minimum.
HURRY = 'foreground_floor = "1ms"\nbackground_floor = "1ms"\nsettle = "0s"\n'


class Daemon(Program):
    def __init__(self, directory):
        self.directory = directory
        self.config = directory / "config"
        self.state = directory / "state"
        self.socket = directory / "socket"
        super().__init__(directory / "notify")
        self.pipes = []
        self.client = Client(self.socket)
        (self.config / "apps.d").mkdir(parents=True)
        self.configure(HURRY)

    @property
    def command(self):
        return [REFRESHD, "--config", self.config, "--state", self.state, "--socket", self.socket]

    # Files.

    def configure(self, text):
        (self.config / "refreshd.toml").write_text(f'launcher = "{LAUNCHER}"\n{text}')

    def app(self, *tasks, id=TODO, **keys):
        """Writes the file of an app. A task is a shell command or a table. The app has no schedule unless `keys` set
        one."""
        keys = {"id": id, "foreground_interval": "never", "background_interval": "never", **keys}
        lines = [f"{key} = {toml(value)}" for key, value in keys.items()]
        for number, task in enumerate(tasks):
            table = task if isinstance(task, dict) else {"name": f"task{number}", "shell": task}
            lines += ["[[task]]"] + [f"{key} = {toml(value)}" for key, value in table.items()]
        self.file(id).write_text("\n".join(lines) + "\n")

    def file(self, id=TODO):
        return self.config / "apps.d" / f"{id}.toml"

    def pipe(self, name):
        """A named pipe that tells the test about tasks, or blocks them."""
        pipe = Pipe(self.directory / name)
        self.pipes.append(pipe)
        return pipe

    def close(self):
        super().close()
        for pipe in self.pipes:
            pipe.close()

    # The socket.

    def call(self, method, **parameters):
        return self.client.call(method, **parameters)

    def tell(self, signal, app=TODO):
        """Sends a lifecycle signal and returns the phase."""
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
        """Waits until all changes so far are on disk: the reply to an empty Set comes after them."""
        self.call("Manager.Set", apps=[app])

    def refresh(self, app=TODO, **trigger):
        """Refreshes the app and returns the refresh."""
        return self.call("Manager.Run", app=app, **trigger)["event"]["refresh"]

    def run(self, app=TODO, **trigger):
        """Refreshes the app and returns the stream of events; the first has arrived."""
        return self.client.stream("Manager.Run", app=app, **trigger)


def finished(stream):
    """Waits for the end of a stream of Run and returns the refresh."""
    return [answer["event"] for answer in stream][-1]["refresh"]


def toml(value):
    """A value in TOML, whose strings, numbers and arrays are written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(key)} = {toml(item)}" for key, item in value.items()) + " }"
    return json.dumps(value)
