"""Desktops for tests: compositors, window managers and windows, as an unprivileged user."""

import itertools
import json
import os
import pathlib
import pwd
import signal
import subprocess
import tempfile
import time

from program import Program
from waiting import BOUND, Bound, wait_for

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
BINARIES = pathlib.Path(os.environ.get("BIN_DIR", REPOSITORY / ".build/debug")).absolute()
# The title of every window, which is nobody's business.
TITLE = "Confidential letter"


class User:
    """The user `nobody`, because sway refuses to run as root."""

    name = "nobody"

    def __init__(self):
        entry = pwd.getpwnam(self.name)
        self.uid, self.gid = entry.pw_uid, entry.pw_gid

    def own(self, path):
        os.chown(path, self.uid, self.gid)

    @property
    def identity(self):
        """The arguments of a process of the user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}


USER = User()


class Session(Program):
    """refresh-session, which tells one daemon."""

    def __init__(self, runtime, socket):
        self.runtime, self.socket = runtime, socket
        super().__init__(runtime / "notify")
        os.chmod(self.notices.path, 0o777)

    @property
    def command(self):
        return [BINARIES / "refresh-session", "--socket", self.socket]

    def environment(self, **more):
        """The environment of the session; without a bus, units and names are not seen."""
        return {
            "XDG_RUNTIME_DIR": str(self.runtime), "DBUS_SESSION_BUS_ADDRESS": f"unix:path={self.runtime}/no-bus",
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={self.runtime}/no-bus", "HOME": "/nonexistent",
            "XDG_DATA_DIRS": f"{self.runtime}/data", **more,
        }  # fmt: skip

    def begin(self, desktop=None, *options, **more):
        """Starts it in the session of a desktop."""
        environment = self.environment(**(desktop.variables if desktop else {}), **more)
        user = ["setpriv", f"--reuid={USER.uid}", f"--regid={USER.gid}", "--clear-groups"]
        self.start(*options, prefix=user, environment=environment)

    @property
    def wakes(self):
        """How often its threads have given up the processor to wait."""
        threads = pathlib.Path(f"/proc/{self.pid}/task").glob("*/status")
        return sum(int(thread.read_text().split("\nvoluntary_ctxt_switches:")[1].split()[0]) for thread in threads)

    def rest(self, seconds, within=BOUND):
        """Watches until it has not woken for this number of seconds."""
        bound, first = Bound(within), self.wakes
        calm, last = Bound(seconds), first
        while calm.left:
            assert bound.left, f"it woke {last - first} times in {within} s"
            if (now := self.wakes) != last:
                calm, last = Bound(seconds), now
            time.sleep(0.05)

    def list(self, desktop=None, program=(BINARIES / "refresh-session", "--list"), **more):
        """The output of `refresh-session --list`, or of another command for it."""
        environment = self.environment(**(desktop.variables if desktop else {}), **more)
        return subprocess.run(
            [*program], env=environment, capture_output=True, text=True, timeout=30,
            **USER.identity,
        )  # fmt: skip


class Desktop:
    """Programs of a desktop, which end with it."""

    variables = {}

    def __init__(self, runtime):
        self.runtime = runtime
        self.processes = []

    def __enter__(self):
        try:
            self.open()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            self.end(process)

    def end(self, process):
        if process.poll() is None:
            process.kill()
        process.wait()

    def launch(self, *command, descriptors=(), **environment):
        log = tempfile.TemporaryFile()
        process = subprocess.Popen(
            [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={"PATH": os.environ["PATH"], "HOME": str(self.runtime), "LANG": "C.UTF-8",
                 "XDG_RUNTIME_DIR": str(self.runtime), **self.variables, **environment},
            pass_fds=descriptors, **USER.identity,
        )  # fmt: skip
        process.log = log
        self.processes.append(process)
        return process

    def until(self, question, what, process=None, within=BOUND):
        """Asks again until the answer is something, and returns it."""
        bound = Bound(within)
        while not (answer := question()):
            said = ""
            if process is not None:
                process.log.seek(0)
                said = process.log.read().decode(errors="replace")[-2000:]
                assert process.poll() is None, f"{what}: it ended\n{said}"
            assert bound.left, f"{what} did not come\n{said}"
        return answer


class Sway(Desktop):
    """sway without a screen."""

    def open(self):
        config = self.runtime / "sway.conf"
        config.write_text("xwayland disable\noutput HEADLESS-1 resolution 800x600\n")
        self.variables = {"WAYLAND_DISPLAY": "wayland-test", "SWAYSOCK": str(self.runtime / "sway.sock")}
        self.start()

    def start(self):
        for name in ("wayland-1", "sway.sock"):
            (self.runtime / name).unlink(missing_ok=True)
        variables, self.variables = self.variables, {}
        self.compositor = self.launch(
            "sway", "--config", self.runtime / "sway.conf", WLR_BACKENDS="headless", WLR_LIBINPUT_NO_DEVICES="1",
            WLR_RENDERER="pixman", SWAYSOCK=variables["SWAYSOCK"],
        )  # fmt: skip
        self.variables = variables
        self.until(lambda: self.ask("get_version"), "sway", self.compositor)
        # sway chooses the number; a second sway may choose another number.
        self.variables["WAYLAND_DISPLAY"] = self.until(
            lambda: [path.name for path in self.runtime.glob("wayland-*") if path.suffix != ".lock"], "a socket"
        )[0]

    def ask(self, *words):
        """The reply of sway; nothing while it does not answer."""
        kind = ["-t", words[0]] if words[0].startswith("get_") else list(words)
        environment = {"PATH": os.environ["PATH"], **self.variables}
        asked = subprocess.run(["swaymsg", "--raw", *kind], env=environment, capture_output=True, text=True)
        return json.loads(asked.stdout) if asked.returncode == 0 else None

    def do(self, command):
        assert all(result["success"] for result in self.ask(command)), command

    def windows(self):
        def below(node):
            found = [node["app_id"]] if node.get("app_id") else []
            return found + [id for child in node["nodes"] + node["floating_nodes"] for id in below(child)]

        return below(self.ask("get_tree"))

    def window(self, id):
        """Opens a window, which has the focus then."""
        count = self.windows().count(id)
        process = self.launch("foot", "-a", id, "-T", TITLE, "sh", "-c", "while :; do sleep 1000; done")
        self.until(lambda: self.windows().count(id) > count, f"the window {id}", process)
        return process

    def focus(self, id):
        self.do(f'[app_id="{id}"] focus')

    def close(self, id):
        self.do(f'[app_id="{id}"] kill')

    def leave(self):
        """Shows a workspace without windows."""
        self.do("workspace empty")

    def come_back(self):
        self.do("workspace 1")

    def lock(self, is_locked=True):
        if is_locked:
            self.locker = self.launch("swaylock")
        else:
            self.locker.send_signal(signal.SIGUSR1)

    def crash(self):
        self.compositor.send_signal(signal.SIGKILL)
        self.compositor.wait()


class X11(Desktop):
    """An X server without a screen, and a window manager."""

    def open(self):
        folder = pathlib.Path("/tmp/.X11-unix")
        folder.mkdir(exist_ok=True)
        folder.chmod(0o1777)
        self.start()

    # A free display that the server chose could be taken by another test's server while this one is down.
    numbers = itertools.count(1000 + os.getpid() % 5000 * 10)

    def start(self):
        """Starts the server on a display of its own, the second time on the same."""
        ready, write = os.pipe()
        if not self.variables:
            self.variables = {"DISPLAY": f":{next(self.numbers)}"}
        self.server = self.launch(
            "Xvfb", self.variables["DISPLAY"], "-displayfd", write, "-screen", "0", "800x600x24", "-nolisten", "tcp",
            # It would begin anew when the last client goes, and refuse the next one meanwhile.
            "-noreset", descriptors=[write],
        )  # fmt: skip
        os.close(write)
        with os.fdopen(ready) as told:
            wait_for([told], "the X server")
            assert f":{told.readline().strip()}" == self.variables["DISPLAY"], "the X server did not start"
        self.manager = self.launch("openbox")
        self.until(
            lambda: "window id" in self.run("xprop", "-root", "_NET_SUPPORTING_WM_CHECK"), "openbox", self.manager)

    def run(self, *command):
        environment = {"PATH": os.environ["PATH"], **self.variables}
        return subprocess.run(command, env=environment, capture_output=True, text=True, **USER.identity).stdout

    def wait_for_property(self, name, is_wanted, what, process, within=BOUND):
        """Waits until a property of the root window is as wanted; xprop prints it at first and after each change."""
        environment = {"PATH": os.environ["PATH"], **self.variables}
        command = ["xprop", "-root", "-spy", name]
        spy = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, bufsize=0, **USER.identity)
        bound, printed = Bound(within), b""
        try:
            while not any(is_wanted(line) for line in printed.decode().split("\n")[:-1]):
                printed = printed.rpartition(b"\n")[2]
                wait_for([spy.stdout], what, bound.left)
                printed += (piece := os.read(spy.stdout.fileno(), 1 << 16))
                assert piece and process.poll() is None, f"{what} did not come"
        finally:
            self.end(spy)
            spy.stdout.close()

    def window(self, name):
        """Opens a window, which has the focus then."""
        names = ["-class", name, "-name", name, "-title", TITLE]
        process = self.launch("xterm", *names, "-e", "sh", "-c", "while :; do sleep 1000; done")
        self.until(lambda: f"{name}.{name}" in self.run("wmctrl", "-lx"), f"the window {name}", process)
        return process

    def focus(self, name):
        self.run("wmctrl", "-xa", name)

    def close(self, name):
        self.run("wmctrl", "-xc", name)

    def leave(self):
        """Shows the desktop in place of the windows."""
        self.run("wmctrl", "-k", "on")

    def come_back(self):
        self.run("wmctrl", "-k", "off")
