"""power-profiles-daemon since 0.20 for python-dbusmock, whose own template has the older name."""

BUS_NAME = MAIN_IFACE = "org.freedesktop.UPower.PowerProfiles"
MAIN_OBJ = "/org/freedesktop/UPower/PowerProfiles"
SYSTEM_BUS = True


def load(mock, parameters):
    mock.AddProperty(MAIN_IFACE, "ActiveProfile", "balanced")
