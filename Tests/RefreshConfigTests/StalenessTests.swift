import RefreshConfig
import RefreshEngine
import Testing

/// The age of stale data, and the command that runs then.
@Suite("How old data may be") struct StalenessTests {
  private static let task = "[[task]]\nrun = [\"/usr/bin/true\"]\n"

  private func scratch(_ keys: String, defaults: String? = nil) throws -> Scratch {
    let scratch = try Scratch()
    if let defaults { try scratch.write("refreshd.toml", "[defaults]\n" + defaults) }
    try scratch.write("apps.d/todo.toml", "id = \"org.example.todo\"\n\(keys)\n" + Self.task)
    return scratch
  }

  private func app(_ keys: String, defaults: String? = nil) throws -> AppConfiguration {
    try #require(try scratch(keys, defaults: defaults).load().apps.first)
  }

  @Test("is as the app's file says, and who is told runs where its tasks do")
  func file() throws {
    let app = try app(
      """
      stale_after = "2d"
      on_stale = ["notify-send", "Old!"]
      directory = "/srv"
      environment = { LANG = "C" }
      """)
    #expect(app.policy.staleAfter == .hours(48))
    #expect(
      app.onStale
        == Command(arguments: ["/usr/bin/notify-send", "Old!"], directory: "/srv", environment: ["LANG=C"]))
  }

  @Test("and so is how long a refresh may be held")
  func held() throws {
    let app = try app(
      """
      held_for = "2h"
      on_held = ["notify-send", "It waits!"]
      """)
    #expect(app.policy.heldFor == .hours(2))
    #expect(app.onHeld == Command(arguments: ["/usr/bin/notify-send", "It waits!"]) && app.onStale == nil)
    let defaults = "held_for = \"2h\"\non_held = [\"/usr/bin/true\"]"
    #expect(try self.app("", defaults: defaults).onHeld == Command(arguments: ["/usr/bin/true"]))
    let other = try self.app("held_for = \"never\"", defaults: defaults)
    #expect(other.policy.heldFor == nil && other.onHeld == nil)
  }

  @Test("may be a default, which an app takes away with never")
  func defaults() throws {
    let defaults = "stale_after = \"2d\"\non_stale = [\"/usr/bin/true\"]"
    #expect(try app("", defaults: defaults).onStale == Command(arguments: ["/usr/bin/true"]))
    let other = try app("stale_after = \"never\"", defaults: defaults)
    #expect(other.policy.staleAfter == nil && other.onStale == nil)
    let command = "on_stale = [\"/usr/bin/true\"]"
    #expect(try app("stale_after = \"3d\"", defaults: command).onStale?.arguments == ["/usr/bin/true"])
    #expect(try app("", defaults: command).onStale == nil)
  }

  @Test(
    "is refused where it makes no sense",
    arguments: [
      (
        "stale_after = \"6h\"\nbackground_interval = \"1d\"",
        #"2: stale_after: cannot keep data fresher than 6h with a refresh every 1d; "#
          + "write a longer stale_after or a shorter background_interval"
      ),
      (
        #"stale_after = "30s""#, "2: stale_after: cannot use 30s: it is out of range; write 1min to 10y"
      ),
      (
        #"on_stale = ["/usr/bin/true"]"#,
        #"2: on_stale: cannot run on_stale without stale_after; add for example stale_after = "6h""#
      ),
      (
        #"on_held = ["/usr/bin/true"]"#,
        #"2: on_held: cannot run on_held without held_for; add for example held_for = "2h""#
      ),
      (
        "stale_after = \"2d\"\non_stale = \"/usr/bin/true\"",
        #"3: on_stale: cannot use a string here; "#
          + #"write for example on_stale = ["/usr/bin/notify-send", "Old mail"]"#
      ),
    ])
  func problems(keys: String, problem: String) throws {
    #expect(
      try scratch(keys).problems().map { $0.replacing("apps.d/todo.toml:", with: "") } == [problem])
  }
}
