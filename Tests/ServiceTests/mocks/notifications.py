"""A desktop that prints its notifications: `org.freedesktop.Notifications` on the session bus, a line of JSON each."""

import json

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.Notifications"


class Notifications(dbus.service.Object):
    @dbus.service.method(NAME, in_signature="susssasa{sv}i", out_signature="u")
    def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
        print(json.dumps({"app": str(app), "summary": str(summary), "body": str(body)}), flush=True)
        return 1


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
name = dbus.service.BusName(NAME, dbus.SessionBus())
desktop = Notifications(name, "/org/freedesktop/Notifications")
print(json.dumps("ready"), flush=True)
GLib.MainLoop().run()
