"""A desktop that prints its notifications: `org.freedesktop.Notifications` on the session bus, a line of JSON each."""

import json

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


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
name = dbus.service.BusName(NAME, dbus.SessionBus())
desktop = Notifications(name, "/org/freedesktop/Notifications")
print(json.dumps("ready"), flush=True)
GLib.MainLoop().run()
