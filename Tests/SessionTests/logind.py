"""A logind of one user with one session, which is active: its hints are what a test sets."""

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = "org.freedesktop.login1"


class Manager(dbus.service.Object):
    @dbus.service.method(f"{NAME}.Manager", in_signature="u", out_signature="o")
    def GetUser(self, uid):
        return "/user"


class User(dbus.service.Object):
    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="ss", out_signature="v")
    def Get(self, interface, name):
        """The display session, the only requested property."""
        return dbus.Struct(("1", dbus.ObjectPath("/session")), signature="so")


class Session(dbus.service.Object):
    hints = {"Active": True, "LockedHint": False, "IdleHint": False}

    @dbus.service.method(dbus.PROPERTIES_IFACE, in_signature="s", out_signature="a{sv}")
    def GetAll(self, interface):
        return self.hints

    @dbus.service.signal(dbus.PROPERTIES_IFACE, signature="sa{sv}as")
    def PropertiesChanged(self, interface, changed, invalidated):
        pass

    @dbus.service.method("org.example.User", in_signature="b")
    def Lock(self, is_locked):
        self.hints = {**self.hints, "LockedHint": is_locked}
        self.PropertiesChanged(f"{NAME}.Session", {"LockedHint": is_locked}, [])


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
objects = [Manager(bus, "/org/freedesktop/login1"), User(bus, "/user"), Session(bus, "/session")]
name = dbus.service.BusName(NAME, bus)
GLib.MainLoop().run()
