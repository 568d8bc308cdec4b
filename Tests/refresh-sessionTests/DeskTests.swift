import FoundationEssentials
import Glibc
import RefreshAPI
import Testing

@testable import refresh_session

/// The rules by which an app is found on a desk.
@Suite struct DeskTests {
  private static let second: Int64 = 1_000_000

  private func seen(_ desk: Desk, desktop: [String] = ["org.gnome.Geary"], front: Wire.Front = .focused) -> String {
    var apps = FollowedApps()
    apps.replace(by: [Wire.FollowedApp(app: "org.example.mail", desktop: desktop, front: front)])
    _ = apps.look(at: desk, 0)
    guard let app = apps.look(at: desk, Self.second).first else { return "gone" }
    return app.isFront ? "front" : "runs"
  }

  private static func window(_ names: String..., isFocused: Bool = false, isMinimised: Bool = false) -> OpenWindow {
    OpenWindow(names: names, isFocused: isFocused, isMinimised: isMinimised)
  }

  @Test func `A unit, a bus name or a window means that it runs`() {
    #expect(seen(Desk()) == "gone")
    #expect(seen(Desk(running: ["org.gnome.Geary"])) == "runs")
    #expect(seen(Desk(running: ["org.gnome.geary"])) == "gone")
    #expect(seen(Desk(windows: [Self.window("org.gnome.Geary")])) == "runs")
  }

  @Test func `A focused window is in front, of two windows if one is`() {
    let (focused, other) = (Self.window("org.gnome.Geary", isFocused: true), Self.window("org.gnome.Geary"))
    #expect(seen(Desk(windows: [other, focused])) == "front")
    #expect(seen(Desk(windows: [focused], isThere: false)) == "runs")
    #expect(seen(Desk(windows: [other]), front: .open) == "front")
    #expect(seen(Desk(windows: [Self.window("org.gnome.Geary", isMinimised: true)]), front: .open) == "runs")
  }

  @Test func `A window is matched without regard to case, by class or instance, and by the class of a desktop file`() {
    #expect(seen(Desk(windows: [Self.window("org.gnome.geary")])) == "runs")
    #expect(seen(Desk(windows: [Self.window("Navigator", "geary")]), desktop: ["Geary"]) == "runs")
    #expect(seen(Desk(windows: [Self.window("python3")])) == "gone")
    let text = "[Desktop Entry]\nName=Mail\nStartupWMClass = Python3\r\n[Desktop Action x]\nStartupWMClass=other\n"
    #expect(DesktopEntry(text: text)["StartupWMClass"] == "Python3")
    #expect(DesktopEntry(text: "[Desktop Action x]\nStartupWMClass=other\n")["StartupWMClass"] == nil)
  }

  /// Makes folders with a desktop file of an app `backup` in each, and removes them after a test.
  private func withFolders(_ entries: [String], _ test: ([String]) throws -> Void) throws {
    let files = FileManager.default
    let scratch = files.temporaryDirectory.appending(path: "desk.\(getpid())")
    let folders = try entries.enumerated().map { number, entry in
      let folder = scratch.appending(path: "\(number)")
      try files.createDirectory(at: folder, withIntermediateDirectories: true)
      try Data("[Desktop Entry]\n\(entry)\n".utf8).write(to: folder.appending(path: "backup.desktop"))
      return folder.path
    }
    try test(folders)
    try files.removeItem(at: scratch)
  }

  @Test func `A user's desktop file masks the one of its name, and so mends a wrong class`() throws {
    try withFolders(["Name=Backup", "StartupWMClass=python3"]) { folders in
      let desk = { Desk(windows: [Self.window("python3")], classes: WindowClasses(folders: $0)) }
      #expect(seen(desk(Array(folders.suffix(1))), desktop: ["backup"]) == "runs")
      #expect(seen(desk(folders), desktop: ["backup"]) == "gone")
    }
  }

  @Test func `A unit says more than the name of an interpreter that a desktop file claims`() throws {
    try withFolders(["StartupWMClass=python3"]) { folders in
      var window = Self.window("python3", isFocused: true)
      let desk = { Desk(windows: [window], classes: WindowClasses(folders: folders)) }
      #expect(seen(desk(), desktop: ["backup"]) == "front")
      window.unit = "org.gnome.Geary"
      #expect(seen(desk(), desktop: ["backup"]) == "gone")
      #expect(seen(desk()) == "front")
      #expect(OpenList.lines(of: desk()).last == "org.gnome.Geary  window in front")
    }
    #expect(Self.window("Python3", "vorta").namesOfItsOwn == ["vorta"])
  }

  @Test func `The program of one app names its windows, if no app has its name as an id`() throws {
    try withFolders(["Exec=/usr/bin/saver %U\nStartupWMClass=Keeper"]) { folders in
      let desk = { Desk(windows: [Self.window($0)], classes: WindowClasses(folders: folders)) }
      #expect(seen(desk("saver"), desktop: ["backup"]) == "runs")
      #expect(seen(desk("keeper"), desktop: ["backup"]) == "runs")
      #expect(OpenList.lines(of: desk("Saver")).last == "backup  window")
    }
    // Another app with the program, one whose id it is, and an entry of the same app for its autostart.
    for (other, entry, isOwn) in [
      ("other", "Exec=saver --two", false), ("saver", "Exec=other", false),
      ("start", "Exec=saver\nNoDisplay=true", true),
    ] {
      try withFolders(["Exec=saver"]) { folders in
        try Data("[Desktop Entry]\n\(entry)\n".utf8).write(to: URL(filePath: "\(folders[0])/\(other).desktop"))
        let desk = Desk(windows: [Self.window("saver")], classes: WindowClasses(folders: folders))
        #expect(seen(desk, desktop: ["backup"]) == (isOwn ? "runs" : "gone"), "\(other)")
      }
    }
    try withFolders(["Exec=python3 saver.py"]) { folders in
      let desk = Desk(windows: [Self.window("python3")], classes: WindowClasses(folders: folders))
      #expect(seen(desk, desktop: ["backup"]) == "gone")
    }
  }

  @Test func `Another list keeps how an app was seen`() {
    let mail = Wire.FollowedApp(app: "org.example.mail", desktop: ["mail"], front: .focused)
    let todo = Wire.FollowedApp(app: "org.example.todo", desktop: ["todo"], front: .focused)
    let desk = Desk(windows: [Self.window("mail", isFocused: true)])
    var apps = FollowedApps()
    apps.replace(by: [mail])
    _ = apps.look(at: desk, 0)
    _ = apps.look(at: desk, Self.second)
    apps.replace(by: [mail, todo])
    #expect(apps.look(at: desk, Self.second).map(\.isFront) == [true])
  }

  @Test func `The list has each id once, with what is seen of it, and nothing that a terminal obeys`() {
    let desk = Desk(
      running: ["foot"],
      windows: [Self.window("foot", isFocused: true), Self.window("foot"), Self.window("a\u{1B}b", isMinimised: true)])
    #expect(
      OpenList.lines(of: desk) == [
        "ID    SEEN AS", "a?b   minimised window", "foot  runs, window in front, window",
      ])
    #expect(OpenList.lines(of: Desk()) == ["Nothing with an id is open."])
  }

  @Test(arguments: [
    ("org.gnome.Geary", true), ("geary", false), ("org.3d", false), ("org..x", false), ("org.x y", false),
    ("a.b-c_d", true),
  ])
  func `Only some ids can be names on the bus`(id: String, isName: Bool) {
    #expect(id.isBusName == isName)
  }

  @Test func `A window whose names are of no app is of the app of its unit`() {
    var window = Self.window("python3", isFocused: true)
    window.unit = "org.gnome.Geary"
    #expect(seen(Desk(windows: [window])) == "front")
    #expect(seen(Desk(windows: [window]), desktop: ["python3"]) == "front")
    var apps = FollowedApps()
    let followed = [("mail", "org.gnome.Geary"), ("other", "python3")]
    apps.replace(by: followed.map { Wire.FollowedApp(app: $0.0, desktop: [$0.1], front: .focused) })
    #expect(apps.look(at: Desk(windows: [window]), 0).map(\.app) == ["other"])
  }
}
