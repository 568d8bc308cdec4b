import RefreshEngine
import Testing

@testable import RefreshDaemon

/// Texts that are equal to Swift and have other bytes, which name other files.
@Suite struct ReloadedTextsTests {
  private static let composed = "/srv/caf\u{e9}"
  private static let decomposed = "/srv/cafe\u{301}"

  private static func file(_ id: String, _ path: String) -> String {
    "id = \"\(id)\"\nbackground_interval = \"1h\"\n[[task]]\nrun = [\"/bin/cat\", \"\(path)\"]\n"
  }

  private func path(_ id: String, in world: VirtualDaemon) throws -> [UInt8] {
    let app = try #require(AppID(id))
    return try Array(#require(world.daemon.core.configuration[app]?.commands.first?.arguments.last).utf8)
  }

  @Test func aReloadTakesTheNewForm() throws {
    let world = try VirtualDaemon(apps: ["a.b": Self.file("a.b", Self.decomposed)])
    #expect(try path("a.b", in: world) == Array(Self.decomposed.utf8))
    try world.directory.write("apps.d/a.b.toml", Self.file("a.b", Self.composed))
    world.daemon.reload { #expect($0.isEmpty) }
    #expect(try path("a.b", in: world) == Array(Self.composed.utf8))
  }

  @Test func eachAppHasItsOwnForm() throws {
    let world = try VirtualDaemon(apps: [
      "a.b": Self.file("a.b", Self.decomposed), "a.c": Self.file("a.c", Self.composed),
    ])
    #expect(try path("a.b", in: world) == Array(Self.decomposed.utf8))
    #expect(try path("a.c", in: world) == Array(Self.composed.utf8))
  }
}
