"""A desktop that prints its notifications: `org.freedesktop.Notifications` on the session bus, a line of JSON each.

`notifications.py busy` is one whose user does not want to be disturbed, and which says so, as Plasma does;
`notifications.py mute` does not answer the question.
"""

import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Notifications(dbus.service.Object):
    last = 0

    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
        self.last += 1
        line = {"app": app, "summary": summary, "body": body, "actions": actions, "desktop": hints.get("desktop-entry")}
        print(json.dumps({**line, "id": self.last}), flush=True)
        return self.last

    @dbus.service.method("org.example.User", in_signature="u")
    def Click(self, id):
        """The user clicks on a notification."""
        self.ActionInvoked(id, "default")

    @dbus.service.method("org.example.User", in_signature="us")
    def Press(self, id, action):
        """The user presses a button of a notification."""
        self.ActionInvoked(id, action)

    @dbus.service.signal(NAME, signature="us")
    def ActionInvoked(self, id, action):
        pass


class Plasma(Notifications):
    inhibited = True

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return {"Inhibited": self.inhibited}

    @dbus.service.method("org.example.User", in_signature="b")
    def Inhibit(self, inhibited):
        """The user turns "do not disturb" on or off."""
        self.inhibited = inhibited
        self.PropertiesChanged(NAME, {"Inhibited": inhibited}, [])

    @dbus.service.signal(dbus.PROPERTIES_IFACE, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass


class Mute(Notifications):
    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", async_callbacks=("answer", "fail"))
    def GetAll(self, interface, answer, fail):
        """Nobody calls `answer`."""


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
name = dbus.service.BusName(NAME, dbus.SessionBus())
kind = {"busy": Plasma, "mute": Mute}[sys.argv[1]] if sys.argv[1:] else Notifications
desktop = kind(name, "/org/freedesktop/Notifications")
print(json.dumps("ready"), flush=True)
GLib.MainLoop().run()
