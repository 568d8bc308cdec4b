"""refreshd as a service: its units, its files, its socket."""

import json
import os
import pathlib
import shutil
import subprocess

import varlink

SOCKET = "/run/refreshd/org.refreshd"
APPS = pathlib.Path("/etc/refreshd/apps.d")
DROP_INS = pathlib.Path("/run/systemd/system/refreshd.service.d")
TODO = "org.example.todo"


def app(shell, id=TODO, **keys):
    """The file of an app with one task; it is refreshed only when asked, unless `keys` say otherwise."""
    keys = {"id": id, "background_interval": "never", "adaptive": False, **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([*lines, "[[task]]", 'name = "work"', f"shell = '''{shell}'''", ""])


class Service:
    def __init__(self, journal):
        self.journal = journal

    # The unit.

    def systemctl(self, *arguments, check=True):
        """Runs systemctl, which waits for the result; bounded, because what is tested may hang."""
        return subprocess.run(["systemctl", *arguments], check=check, capture_output=True, text=True, timeout=120)

    def start(self):
        self.systemctl("start", "refreshd.service")

    def stop(self):
        self.systemctl("stop", "refreshd.service")

    def show(self, name):
        """A property of the unit as systemd holds it."""
        return self.systemctl("show", "--value", f"--property={name}", "refreshd.service").stdout.strip()

    @property
    def main_pid(self):
        return int(self.show("MainPID"))

    def drop_in(self, text):
        """Changes the unit as an administrator does."""
        DROP_INS.mkdir(parents=True, exist_ok=True)
        (DROP_INS / "test.conf").write_text(text)
        self.systemctl("daemon-reload")

    def processes(self):
        """The ids of all processes of the service, its tasks included."""
        group = self.show("ControlGroup")
        if not group:
            return []
        files = pathlib.Path(f"/sys/fs/cgroup{group}").rglob("cgroup.procs")
        return [int(line) for file in files for line in file.read_text().splitlines()]

    def clear(self):
        # With the slice all tasks that were left running.
        self.systemctl("stop", "refreshd.service", "refreshd.socket", "refreshd.slice", check=False)
        self.systemctl("reset-failed", "refreshd-task-*.service", check=False)
        self.systemctl("reset-failed", "refreshd.service", "refreshd.socket", check=False)
        for directory in ("/etc/refreshd", "/run/refreshd", "/var/lib/refreshd", DROP_INS):
            shutil.rmtree(directory, ignore_errors=True)
        self.systemctl("daemon-reload")

    # Its files.

    def configure(self, *apps):
        """Writes these apps' files, in place of all that were there."""
        shutil.rmtree(APPS, ignore_errors=True)
        APPS.mkdir(parents=True)
        for number, text in enumerate(apps):
            (APPS / f"{number}.toml").write_text(text)

    def launch_by(self, launcher, more=""):
        """Has tasks be started by this launcher, from the next start on."""
        pathlib.Path("/etc/refreshd").mkdir(exist_ok=True)
        pathlib.Path("/etc/refreshd/refreshd.toml").write_text(f'launcher = "{launcher}"\n{more}')

    # Its socket.

    def call(self, method, **parameters):
        """Calls a method of org.refreshd.Manager and gives its answer, in dictionaries."""
        with varlink.Client(address=f"unix:{SOCKET}") as client, client.open("org.refreshd.Manager") as manager:
            return getattr(manager, method)(**parameters)

    def app(self, id=TODO):
        return self.call("Show", app=id)["app"]

    def history(self, id=TODO):
        return self.call("History", app=id)["refreshes"]

    def refreshctl(self, *arguments, check=True, **options):
        return subprocess.run(
            ["refreshctl", *arguments], check=check, capture_output=True, text=True, timeout=120, **options
        )

    def run_in_background(self, id=TODO):
        """Asks for a refresh and waits until its task printed something, by when it is at work."""
        process = subprocess.Popen(
            ["refreshctl", "run", id], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.journal.wait("taskOutput", REFRESH_APP=id)
        return process


def is_alive(pid):
    """Whether the process is there and not merely waiting to be reaped."""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def as_user(name, *command):
    """Runs a command as a user, in his home."""
    return subprocess.run(
        ["runuser", "--login", name, "--command", " ".join(command)], capture_output=True, text=True, timeout=60
    )


def log_out(unit):
    """Ends a session by the unit that the fixture `log_in` gave."""
    subprocess.run(["systemctl", "stop", unit], capture_output=True, timeout=60)


def owner_of(path):
    return pathlib.Path(path).owner()


def mode_of(path):
    return oct(os.stat(path).st_mode & 0o777)
