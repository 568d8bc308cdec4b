"""Desktops for tests: compositors, window managers and windows, as an unprivileged user."""

import itertools
import json
import os
import pathlib
import pwd
import shutil
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
        # sway chooses the number; a second sway may choose another one.
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


def gtk_window(id):
    """The command for a window of GTK, which has an id."""
    text = (
        "imports.gi.versions.Gtk = '4.0'; const { GLib, Gtk } = imports.gi; GLib.set_prgname(ARGV[0]); Gtk.init();"
        f"new Gtk.Window({{ title: '{TITLE}' }}).present(); new GLib.MainLoop(null, false).run();"
    )
    return ["gjs", "-c", text, id]


class BusDesktop(Desktop):
    """A Wayland desktop that tells of windows on the user's bus: a bus, and a compositor on it."""

    socket = "wayland-test"

    def open(self):
        address = f"unix:path={self.runtime}/bus"
        self.launch("dbus-daemon", "--session", "--nofork", "--nopidfile", "--nosyslog", f"--address={address}")
        # The system's bus is this one too, without logind.
        self.variables = {"DBUS_SESSION_BUS_ADDRESS": address, "DBUS_SYSTEM_BUS_ADDRESS": address}
        self.until(lambda: self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId"), "the bus")
        self.start()

    def lock(self, is_locked=True):
        """Has logind say that the session is locked, or no longer; a logind for tests, which starts at the first call."""
        logind = "org.freedesktop.login1"
        if not self.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetNameOwner", "s", logind):
            self.launch("/usr/bin/python3", pathlib.Path(__file__).with_name("logind.py"))
        word = str(is_locked).lower()
        self.until(lambda: self.call(logind, "/session", "org.example.User", "Lock", "b", word), "logind")

    def call(self, *words):
        """The reply of a method; nothing if it fails."""
        asked = subprocess.run(
            ["busctl", "--user", "--json=short", "call", *words], env={"PATH": os.environ["PATH"], **self.variables},
            capture_output=True, text=True, timeout=30, **USER.identity,
        )  # fmt: skip
        return json.loads(asked.stdout or '{"data": []}') if asked.returncode == 0 else None

    def window(self, id):
        """Opens a window of GTK, which gets the focus; foot divides by zero on the screen that KWin makes up."""
        return self.launch(*gtk_window(id), GDK_BACKEND="wayland", GSK_RENDERER="cairo")

    def crash(self):
        self.compositor.kill()
        self.compositor.wait()


class KWin(BusDesktop):
    """KWin without a screen, as Plasma on Wayland has it."""

    # Whether every client may use every protocol.
    is_open = False

    def start(self):
        program = self.runtime / "kwin_wayland"
        if not program.exists():
            # A copy has no file capability, which a container may not grant.
            shutil.copy("/usr/bin/kwin_wayland", program)
        variables = {name: text for name, text in self.variables.items() if name != "WAYLAND_DISPLAY"}
        self.variables = variables
        self.compositor = self.launch(
            program, "--virtual", "--width", "800", "--height", "600", "--socket", self.socket, "--no-lockscreen",
            "--no-global-shortcuts", "--no-kactivities", QT_NO_XDG_DESKTOP_PORTAL="1",
            **({"KWIN_WAYLAND_NO_PERMISSION_CHECKS": "1"} if self.is_open else {}),
        )  # fmt: skip
        self.variables = {**variables, "WAYLAND_DISPLAY": self.socket}
        self.until(lambda: self.has_script("none") is False, "KWin", self.compositor)

    def script(self, method, *words):
        return self.call("org.kde.KWin", "/Scripting", "org.kde.kwin.Scripting", method, *words)

    def has_script(self, name):
        reply = self.script("isScriptLoaded", "s", name)
        return reply["data"][0] if reply else None

    def do(self, text):
        """Runs a script in KWin."""
        path = self.runtime / "do.js"
        path.write_text(text)
        path.chmod(0o644)
        self.script("unloadScript", "s", "test")
        [number] = self.script("loadScript", "ss", str(path), "test")["data"]
        assert self.call("org.kde.KWin", f"/{number}", "org.kde.kwin.Script", "run") is not None

    def client(self, id):
        return f'workspace.clientList().find(client => String(client.resourceClass) === "{id}")'

    def focus(self, id):
        self.do(f"workspace.activeClient = {self.client(id)};")

    def close(self, id):
        self.do(f"{self.client(id)}.closeWindow();")

    def leave(self):
        """Shows a desktop without windows."""
        self.do('if (workspace.desktops < 2) workspace.createDesktop(1, "empty"); workspace.currentDesktop = 2;')

    def come_back(self):
        self.do("workspace.currentDesktop = 1;")


class Gnome(BusDesktop):
    """GNOME Shell without a screen, with our extension installed and not enabled."""

    def __init__(self, runtime):
        super().__init__(runtime)
        version = subprocess.run(["gnome-shell", "--version"], capture_output=True, text=True, check=True).stdout
        self.extension = "windows-43@refreshd" if int(version.split()[-1].split(".")[0]) < 45 else "windows@refreshd"

    def start(self):
        extensions = self.runtime / ".local/share/gnome-shell/extensions"
        if not extensions.exists():
            subprocess.run([REPOSITORY / "packaging/gnome/make", extensions], check=True)
            settings = self.runtime / ".config/glib-2.0/settings"
            settings.mkdir(parents=True)
            (settings / "keyfile").write_text("[org/gnome/shell]\nwelcome-dialog-last-shown-version='9999'\n")
            for path in self.runtime.rglob("*"):
                if path.stat().st_uid != USER.uid and not path.is_socket():
                    USER.own(path)
        variables = {name: text for name, text in self.variables.items() if name != "WAYLAND_DISPLAY"}
        self.variables = variables
        # Unsafe mode is for `do`; the extension does not need it.
        self.compositor = self.launch(
            "gnome-shell", "--headless", "--wayland", "--no-x11", "--virtual-monitor", "800x600", "--unsafe-mode",
            "--wayland-display", self.socket, GSETTINGS_BACKEND="keyfile", NO_AT_BRIDGE="1",
        )  # fmt: skip
        self.variables = {**variables, "WAYLAND_DISPLAY": self.socket}
        self.until(lambda: self.ask("Main.layoutManager._startingUp") == "false", "GNOME Shell", self.compositor)
        self.do("Main.overview.hide()")
        self.until(lambda: self.ask("Main.overview.visible") == "false", "the desktop", self.compositor)

    def ask(self, text):
        """The value of an expression in GNOME Shell, as JSON; nothing while it cannot be had."""
        reply = self.call("org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell", "Eval", "s", text)
        return reply["data"][1] if reply and reply["data"][0] else None

    def do(self, text):
        assert self.ask(f"{text}; true") == "true", text

    def enable(self, word="Enable"):
        reply = self.call(
            "org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell.Extensions", f"{word}Extension", "s", self.extension)
        assert reply["data"] == [True], reply

    def window(self, id):
        """Opens a window and gives it the focus, which GNOME Shell does not give to a window that nobody asked for."""
        count = self.count(id)
        process = super().window(id)
        self.until(lambda: self.count(id) > count, f"the window {id}", process)
        self.focus(id)
        return process

    def windows(self, id):
        return f"global.get_window_actors().map(a => a.meta_window).filter(w => w.get_wm_class() === '{id}')"

    def count(self, id):
        return int(self.ask(f"{self.windows(id)}.length"))

    def focus(self, id):
        self.do(f"{self.windows(id)}.at(-1).activate(global.get_current_time())")

    def close(self, id):
        self.do(f"{self.windows(id)}.at(-1).delete(global.get_current_time())")

    def leave(self):
        """Shows the overview, in which no window has the focus."""
        self.do("Main.overview.show()")

    def come_back(self):
        self.do("Main.overview.hide()")
