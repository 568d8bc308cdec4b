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

  @Test func `A user's desktop file masks the one of its name, and so mends a wrong class`() throws {
    let files = FileManager.default
    let scratch = files.temporaryDirectory.appending(path: "desk.\(getpid())")
    func write(_ folder: String, _ entry: String) throws -> String {
      let path = scratch.appending(path: folder)
      try files.createDirectory(at: path, withIntermediateDirectories: true)
      try Data("[Desktop Entry]\n\(entry)\n".utf8).write(to: path.appending(path: "backup.desktop"))
      return path.path
    }
    let (own, vendor) = (try write("own", "Name=Backup"), try write("vendor", "StartupWMClass=python3"))
    let desk = { Desk(windows: [Self.window("python3")], classes: WindowClasses(folders: $0)) }
    #expect(seen(desk([vendor]), desktop: ["backup"]) == "runs")
    #expect(seen(desk([own, vendor]), desktop: ["backup"]) == "gone")
    try files.removeItem(at: scratch)
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
    #expect(OpenList.lines(of: Desk()) == ["Nothing is open that has an id."])
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
