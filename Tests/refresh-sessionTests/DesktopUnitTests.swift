import Testing

@testable import refresh_session

/// The names that launchers, desktops and the bus give to units.
@Suite struct DesktopUnitTests {
  @Test(arguments: [
    (#"app-gnome-org.gnome.Evolution\x2dalarm\x2dnotify-2437.scope"#, "org.gnome.Evolution-alarm-notify"),
    ("app-org.kde.okular@12345.service", "org.kde.okular"), ("app-org.kde.amarok.service", "org.kde.amarok"),
    ("app-KDE-org.kde.okular@1.service", "org.kde.okular"), ("app-foot-77.scope", "foot"),
    ("app-flatpak-org.mozilla.firefox-3312.scope", "org.mozilla.firefox"),
    ("app-org.kde.kate-0123456789abcdef0123456789abcdef.scope", "org.kde.kate"),
    ("app-geary@autostart.service", "geary"), ("app-gnome-org.gnome.Geary.desktop-1.scope", "org.gnome.Geary"),
    ("dbus-:1.2-org.gnome.Nautilus@3.service", "org.gnome.Nautilus"),
    ("snap.firefox.firefox-6a0c.scope", "firefox_firefox"), (#"app-a\x-1.scope"#, #"a\x"#),
  ])
  func `It is the unit of an app`(unit: String, id: String) {
    #expect(DesktopUnit.desktopID(of: unit) == id)
  }

  @Test(arguments: [
    "dbus.service", "vte-spawn-1.scope", "app-foot.scope", "app-.service", "app-@1.service", "snap.x.scope",
    "session-1.scope",
    #"app-\xff-1.scope"#, "app-", "dbus-:1.2@3.service", "app.slice", "",
  ])
  func `It is no unit of an app`(unit: String) {
    #expect(DesktopUnit.desktopID(of: unit) == nil)
  }
}
