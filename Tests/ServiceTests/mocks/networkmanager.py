"""NetworkManager for python-dbusmock, as far as refreshd reads it: connected by Wi-Fi, and not metered.

dbusmock's own template has neither Metered nor PrimaryConnection.
"""

import dbus

BUS_NAME = MAIN_IFACE = "org.freedesktop.NetworkManager"
MAIN_OBJ = "/org/freedesktop/NetworkManager"
SYSTEM_BUS = True


def load(mock, parameters):
    connection, device, point = (f"{MAIN_OBJ}/{part}/1" for part in ("ActiveConnection", "Devices", "AccessPoint"))
    mock.AddProperties(
        MAIN_IFACE,
        dbus.Dictionary(
            {
                "State": dbus.UInt32(70),
                "Connectivity": dbus.UInt32(4),
                "Metered": dbus.UInt32(2),
                "PrimaryConnection": dbus.ObjectPath(connection),
                "PrimaryConnectionType": "802-11-wireless",
            },
            signature="sv",
        ),
    )
    mock.AddObject(
        connection,
        "org.freedesktop.NetworkManager.Connection.Active",
        {
            "Devices": dbus.Array([dbus.ObjectPath(device)], signature="o"),
            "SpecificObject": dbus.ObjectPath(point),
            "Id": "home",
        },
        [],
    )
    mock.AddObject(device, "org.freedesktop.NetworkManager.Device", {"Interface": "wlan0", "IpInterface": "wlan0"}, [])
    for number, name in enumerate(("Café", "Office"), 1):
        mock.AddObject(
            f"{MAIN_OBJ}/AccessPoint/{number}",
            "org.freedesktop.NetworkManager.AccessPoint",
            {"Ssid": dbus.ByteArray(name.encode()), "Strength": dbus.Byte(50)},
            [],
        )
