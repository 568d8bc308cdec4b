"""An app that the session bus starts: `org.freedesktop.Application` of org.example.Bus, until a call makes it quit."""

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.example.Bus"


class Application(dbus.service.Object):
    @dbus.service.method("org.freedesktop.Application", in_signature="a{sv}")
    def Activate(self, data):
        """Would show the app's window; it has none."""

    @dbus.service.method("org.example.App")
    def Quit(self):
        GLib.idle_add(loop.quit)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
name = dbus.service.BusName(NAME, dbus.SessionBus())
application = Application(name, "/org/example/Bus")
loop = GLib.MainLoop()
loop.run()
