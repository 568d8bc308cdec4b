"""Sends every connection of a process to the system bus a signal with a descriptor whose last close waits for an hour, again
and again: passing.py PID. Prints a line for each. Needs python3-dbus, so it runs with the system's Python."""

import pathlib
import sys

import dbus
import dbus.lowlevel

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "DaemonTests"))
from lingering import lingering  # noqa: E402

bus = dbus.SystemBus()
daemon = dbus.Interface(bus.get_object("org.freedesktop.DBus", "/org/freedesktop/DBus"), "org.freedesktop.DBus")


class Connection:
    """Sends in the place of a Unix socket."""

    def __init__(self, name):
        self.name = name

    def take(self, descriptor):
        message = dbus.lowlevel.SignalMessage("/org/example", "org.example.Bad", "Take")
        message.set_destination(self.name)
        message.append(dbus.types.UnixFd(descriptor), signature="h")
        bus.send_message(message)
        bus.flush()
        # Here, because the bus may have closed its copy: then the close of this process's own is the one that waits.
        print("sent", flush=True)


def names(process):
    found = []
    for name in daemon.ListNames():
        try:
            if name.startswith(":") and daemon.GetConnectionUnixProcessID(name) == process:
                found.append(name)
        except dbus.DBusException:
            pass  # It has left.
    return found


with lingering() as send:
    while True:
        for name in names(int(sys.argv[1])):
            send(Connection(name).take)
