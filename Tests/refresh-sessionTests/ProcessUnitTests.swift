import Testing

@testable import refresh_session

/// The unit of an app in the text of `/proc/PID/cgroup`.
@Suite struct ProcessUnitTests {
  private static let app = "0::/user.slice/user-1000.slice/user@1000.service/app.slice"

  @Test(arguments: [
    ("\(Self.app)/app-gnome-vorta-4711.scope\n", "vorta"), ("\(Self.app)/app-vorta.service/inner\n", "vorta"),
    ("1:name=systemd:/app-other-1.scope\n\(Self.app)/app-vorta-1.scope\n", "vorta"),
    ("\(Self.app)/app-foot-1.scope/app-vorta-2.scope\n", "vorta"), ("\(Self.app)/vte-spawn-1.scope\n", nil),
    ("0::/\n", nil), ("", nil),
  ])
  func `The innermost unit of an app counts`(text: String, id: String?) {
    #expect(ProcessUnit.desktopID(inGroups: text) == id)
  }

  @Test func `A process that is not there has none`() {
    #expect(ProcessUnit.desktopID(of: 0) == nil)
    #expect(ProcessUnit.desktopID(of: 1 << 40) == nil)
  }
}
