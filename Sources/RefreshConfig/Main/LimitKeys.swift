import RefreshEngine

/// The keys of `refreshd.toml` that set limits for all apps.
extension Limits {
  /// The widest possible limits.
  ///
  /// They replace an unreadable limit, so that no app is reported for exceeding it.
  static let widest = Limits(
    foregroundFloor: .milliseconds(1), backgroundFloor: .milliseconds(1), deadlineCap: .hours(24))

  /// Reads the limits of `refreshd.toml`.
  init(from section: inout Section) {
    self.init()
    read("foreground_floor", \.foregroundFloor, from: .milliseconds(1), example: "5s", of: &section)
    read("background_floor", \.backgroundFloor, from: .milliseconds(1), example: "15min", of: &section)
    read("deadline_cap", \.deadlineCap, from: .seconds(1), example: "10min", of: &section)
    maxConcurrent = section.read("max_concurrent", .integer(1...1000, example: 4))
    maxConcurrentPerUser = section.read("max_concurrent_per_user", .integer(1...1000, example: 2))
    let unknown = section.read("unknown_conditions", ValueType<UnknownConditions>.word(.met))
    unknownIsMet = unknown.map { $0 == .met } ?? unknownIsMet
    powerSaver = section.read("power_saver", .word(.dearer)) ?? powerSaver
    profile = section.read("profile", .word(.balanced)) ?? profile
    settle = section.read("settle", .duration(.zero ... .minutes(10), example: "20s")) ?? settle
    pushNetwork =
      section.readTable("push", example: "[push], a table") { $0.read("network", .word(.unmetered)) }.flatMap(\.self)
      ?? pushNetwork
  }

  private mutating func read(
    _ key: String, _ limit: WritableKeyPath<Limits, Duration>, from lowest: Duration, example: String,
    of section: inout Section
  ) {
    if let duration = section.read(key, .duration(lowest ... .hours(24), example: example)) {
      self[keyPath: limit] = duration
    } else if section.isWritten(key) {
      self[keyPath: limit] = Self.widest[keyPath: limit]
    }
  }

  /// The values of `unknown_conditions`.
  private enum UnknownConditions: String, CaseIterable {
    case met
    case unmet
  }
}
