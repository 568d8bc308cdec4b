import RefreshEngine

/// How often pushes may wake an app: keys of an app and of `[defaults]`, as far as they are written (FEATURES E2).
struct PushSettings {
  var perHour: Int32?
  var burst: Int32?

  init() {}

  /// Takes the keys out of a section.
  init(from section: inout Section) {
    perHour = section.takeInteger("push_per_hour", within: 1...3600, example: 3)
    burst = section.takeInteger("push_burst", within: 1...100, example: 5)
  }

  /// The same settings, with those of `defaults` where nothing is written.
  func completed(by defaults: PushSettings) -> PushSettings {
    var settings = self
    settings.perHour = perHour ?? defaults.perHour
    settings.burst = burst ?? defaults.burst
    return settings
  }

  /// The limit of these settings, with the engine's defaults where nothing is written.
  var limit: PushLimit {
    var limit = PushLimit()
    limit.perHour = perHour.map(Int.init) ?? limit.perHour
    limit.burst = burst.map(Int.init) ?? limit.burst
    return limit
  }
}

extension Limits {
  /// Takes `[push]` out of `refreshd.toml`: the network of the push bridge (FEATURES E4).
  mutating func takePush(from section: inout Section) {
    guard var table = section.takeTable("push", example: "[push], a table") else { return }
    pushNetwork = table.takeWord("network", example: .unmetered) ?? pushNetwork
    table.refuseUnknownKeys()
    section.adopt(table)
  }
}
