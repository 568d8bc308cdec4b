"""An app of GLib that the session bus starts, org.example.Notes: its action `refresh` is what MODE says.

- ends: does its work and ends
- stays: goes on
- attaches: performs the refresh as an attached process, and ends
- late: attaches after its answer, and goes on
- leaves: attaches, and ends when it is asked to refresh
- quits: the same the first two times, then performs the refresh
- other: has no such action
- crashes: ends before it answers
"""

import json
import os
import pathlib
import socket
import sys

from gi.repository import Gio, GLib

MODE = pathlib.Path("/home/anna/mode").read_text()
SOCKET = "/run/refreshd/org.refreshd"


def send(connection, method, parameters, **options):
    message = {"method": f"org.refreshd.App.{method}", "parameters": parameters, **options}
    connection.sendall(json.dumps(message).encode() + b"\0")


class App(Gio.Application):
    def __init__(self):
        super().__init__(application_id="org.example.Notes", flags=Gio.ApplicationFlags.IS_SERVICE)
        self.set_inactivity_timeout(50)

    def do_startup(self):
        if MODE == "crashes":
            os._exit(1)
        Gio.Application.do_startup(self)
        action = Gio.SimpleAction.new("compose" if MODE == "other" else "refresh", None)
        action.connect("activate", self.refresh)
        self.add_action(action)
        if MODE == "other":
            self.hold()

    def do_activate(self):
        """Has no window."""

    def refresh(self, *_):
        with open("/home/anna/worked", "a") as worked:
            worked.write(f"{MODE}\n")
        self.hold()
        if MODE == "ends":
            GLib.idle_add(self.release)
        elif MODE == "late":
            GLib.timeout_add(200, self.attach)
        elif MODE in ("attaches", "leaves", "quits"):
            self.attach()

    def attach(self):
        """Waits for the order to refresh; called once."""
        self.attached = socket.socket(socket.AF_UNIX)
        self.attached.connect(SOCKET)
        send(self.attached, "Attach", {"app": "org.example.todo"}, more=True)
        self.text = b""
        GLib.unix_fd_add_full(0, self.attached.fileno(), GLib.IOCondition.IN, self.read)
        return False

    def read(self, *_):
        self.text += self.attached.recv(65536)
        *messages, self.text = self.text.split(b"\0")
        for message in messages:
            event = json.loads(message)["parameters"]["event"]
            if event["kind"] == "perform":
                done = pathlib.Path("/home/anna/worked").read_text().split()
                if MODE == "leaves" or MODE == "quits" and len(done) < 3:
                    os._exit(0)
                with socket.socket(socket.AF_UNIX) as connection:
                    connection.connect(SOCKET)
                    send(connection, "Complete", {"token": event["token"], "outcome": "no_data", "message": "attached"})
                    connection.recv(65536)
                self.attached.close()
                if MODE != "late":
                    self.release()
                return False
        return True


sys.exit(App().run([]))
