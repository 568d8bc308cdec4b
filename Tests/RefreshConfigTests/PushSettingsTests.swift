import RefreshConfig
import RefreshEngine
import Testing

/// The limit of pushes per app, and the network of the bridge.
@Suite("Bounds of pushes") struct PushSettingsTests {
  @Test("are the app's own, else those of [defaults], else 5 in a burst and 3 an hour")
  func limits() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[push]\nnetwork = \"wifi\"\n[defaults]\npush_burst = 100")
    try scratch.write("apps.d/a.own.toml", "id = \"a.own\"\npush_per_hour = 3600\npush_burst = 1")
    try scratch.write("apps.d/a.some.toml", "id = \"a.some\"\npush_per_hour = 1")
    try scratch.write("apps.d/a.none.toml", "id = \"a.none\"")
    let configuration = try scratch.load()
    #expect(
      configuration.apps.map(\.policy.pushLimit) == [
        PushLimit(perHour: 3, burst: 100), PushLimit(perHour: 3600, burst: 1), PushLimit(perHour: 1, burst: 100),
      ])
    #expect(configuration.limits.pushNetwork == .wifi)
    try scratch.write("refreshd.toml", "")
    #expect(try scratch.load().apps[0].policy.pushLimit == PushLimit(perHour: 3, burst: 5))
    #expect(try scratch.load().limits.pushNetwork == .any)
  }

  @Test("out of bounds are refused with their lines")
  func mistakes() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[push]\nnetwork = \"lan\"\nlimit = 1")
    try scratch.write("apps.d/a.b.toml", "id = \"a.b\"\npush_per_hour = 0\npush_burst = 101")
    #expect(
      scratch.problems() == [
        "apps.d/a.b.toml:2: push_per_hour: cannot take 0: it is out of bounds; write 1 to 3600",
        "apps.d/a.b.toml:3: push_burst: cannot take 101: it is out of bounds; write 1 to 100",
        "refreshd.toml:2: push.network: cannot take \"lan\"; write \"none\", \"any\", \"unmetered\" or \"wifi\"",
        "refreshd.toml:3: push.limit: cannot use a key that is not known here; the keys here are network",
      ])
  }
}
