"""Wayland desktops that tell of windows on the user's bus: KWin and GNOME Shell."""

import json
import os
import pathlib
import shutil
import subprocess

from desktop import REPOSITORY, TITLE, USER, Desktop


def gtk_window(id):
    """The command for a window of GTK, which has an id."""
    text = (
        "imports.gi.versions.Gtk = '4.0'; const { GLib, Gtk } = imports.gi; GLib.set_prgname(ARGV[0]); Gtk.init();"
        f"new Gtk.Window({{ title: '{TITLE}' }}).present(); new GLib.MainLoop(null, false).run();"
    )
    return ["gjs", "-c", text, id]


class BusDesktop(Desktop):
    """A Wayland desktop that reports windows on the user's bus: a bus, and a compositor on it."""

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
        """Enables the extension, or disables it, and waits until GNOME Shell has done so."""

        def extension(method):
            return self.call(
                "org.gnome.Shell", "/org/gnome/Shell", "org.gnome.Shell.Extensions", method, "s", self.extension)["data"]

        assert extension(f"{word}Extension") == [True]
        # The first states of GNOME Shell's ExtensionState are enabled and disabled.
        wanted = {"Enable": 1, "Disable": 2}[word]
        self.until(lambda: extension("GetExtensionInfo")[0]["state"]["data"] == wanted, f"the extension ({word})",
                   self.compositor)  # fmt: skip

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
        """Gives the newest window the focus, and waits until it has it."""
        give = "(window => window.has_focus() || (window.activate(global.get_current_time()), false))"
        self.until(lambda: self.ask(f"{give}({self.windows(id)}.at(-1))") == "true", f"the focus of {id}")

    def close(self, id):
        self.do(f"{self.windows(id)}.at(-1).delete(global.get_current_time())")

    def leave(self):
        """Shows the overview, in which no window has the focus."""
        self.do("Main.overview.show()")

    def come_back(self):
        self.do("Main.overview.hide()")
