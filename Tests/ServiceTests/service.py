"""refreshd as a service: its units, its files, its socket."""

import json
import os
import pathlib
import shutil
import subprocess

import varlink

SOCKET = "/run/refreshd/org.refreshd"
APPS = pathlib.Path("/etc/refreshd/apps.d")
FOLDERS = [pathlib.Path(folder) for folder in ("/etc/refreshd", "/run/refreshd", "/var/lib/refreshd")]
DROP_INS = pathlib.Path("/run/systemd/system/refreshd.service.d")
SPAWN = pathlib.Path(__file__).resolve().parents[2] / "systemd/spawn.conf"
TODO = "org.example.todo"


def app(shell, id=TODO, **keys):
    """The file of an app with one task; the app has no schedule unless `keys` set one."""
    keys = {"id": id, "background_interval": "never", **keys}
    lines = [f"{key} = {json.dumps(value)}" for key, value in keys.items()]
    return "\n".join([*lines, "[[task]]", 'name = "work"', f"shell = '''{shell}'''", ""])


class Service:
    def __init__(self, journal):
        self.journal = journal

    # The unit.

    def systemctl(self, *arguments, check=True):
        """Runs systemctl, which waits for the result; with a timeout, because the tested service may hang."""
        return subprocess.run(["systemctl", *arguments], check=check, capture_output=True, text=True, timeout=120)

    def start(self):
        self.systemctl("start", "refreshd.service")

    def stop(self):
        self.systemctl("stop", "refreshd.service")

    def show(self, name):
        """A property of the unit, from systemd."""
        return self.systemctl("show", "--value", f"--property={name}", "refreshd.service").stdout.strip()

    @property
    def main_pid(self):
        return int(self.show("MainPID"))

    def drop_in(self, text, name="test"):
        """Changes the unit with a drop-in, as an administrator does."""
        DROP_INS.mkdir(parents=True, exist_ok=True)
        (DROP_INS / f"{name}.conf").write_text(text)
        self.systemctl("daemon-reload")

    def processes(self):
        """The ids of all processes of the service, with its tasks."""
        group = self.show("ControlGroup")
        if not group:
            return []
        files = pathlib.Path(f"/sys/fs/cgroup{group}").rglob("cgroup.procs")
        return [int(line) for file in files for line in file.read_text().splitlines()]

    def clear(self):
        # The slice has all tasks that are still running. A daemon that is just starting a task in a slice that stops would
        # wait for systemd's yes until its patience ends.
        self.systemctl("stop", "refreshd.service", "refreshd.socket", check=False)
        self.systemctl("stop", "refreshd.slice", check=False)
        self.systemctl("reset-failed", "refreshd-task-*.service", "refreshd.service", "refreshd.socket", check=False)
        for folder in FOLDERS:
            shutil.rmtree(folder, ignore_errors=True)
        self.drop(DROP_INS)

    def has_files(self):
        """Whether a test that did without this class has left something; a running socket has its folder."""
        return any(folder.exists() for folder in (*FOLDERS, DROP_INS))

    def drop(self, drop_ins):
        """Removes the drop-ins of a unit. A reload of systemd takes longer than many a test, so it waits for a reason."""
        if drop_ins.exists():
            shutil.rmtree(drop_ins)
            self.systemctl("daemon-reload")

    # Files.

    def configure(self, *apps):
        """Writes these apps' files, and removes all others."""
        shutil.rmtree(APPS, ignore_errors=True)
        APPS.mkdir(parents=True)
        for number, text in enumerate(apps):
            (APPS / f"{number}.toml").write_text(text)

    def launch_by(self, launcher, more=""):
        """Sets the launcher from the next start on."""
        pathlib.Path("/etc/refreshd").mkdir(exist_ok=True)
        pathlib.Path("/etc/refreshd/refreshd.toml").write_text(f'launcher = "{launcher}"\n{more}')
        if launcher == "spawn":
            self.drop_in(SPAWN.read_text(), "spawn")

    # The socket.

    def call(self, method, **parameters):
        """Calls a method of org.refreshd.Manager and returns its reply, in dictionaries."""
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
        """Starts a refresh and waits until its task has printed something, so that it is running."""
        process = subprocess.Popen(
            ["refreshctl", "run", id], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.journal.wait("taskOutput", REFRESH_APP=id)
        return process


def is_alive(pid):
    """Whether the process runs; false for a zombie."""
    try:
        status = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def as_user(name, *command):
    """Runs a command as a user, in the user's home."""
    return subprocess.run(
        ["runuser", "--login", name, "--command", " ".join(command)], capture_output=True, text=True, timeout=60
    )


def log_out(unit):
    """Ends a session by the unit that the fixture `log_in` returned."""
    subprocess.run(["systemctl", "stop", unit], capture_output=True, timeout=60)


def owner_of(path):
    return pathlib.Path(path).owner()


def mode_of(path):
    return oct(os.stat(path).st_mode & 0o777)
