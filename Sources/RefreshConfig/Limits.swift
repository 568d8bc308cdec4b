import RefreshEngine

extension Limits {
  /// The widest limits that can be set.
  ///
  /// They stand in for one that cannot be read, so that no app is blamed for it.
  static let widest = Limits(
    foregroundFloor: .milliseconds(1), backgroundFloor: .milliseconds(1), deadlineCap: .hours(24))

  /// Takes the limits out of `refreshd.toml`.
  init(from section: inout Section) {
    self.init()
    take("foreground_floor", \.foregroundFloor, from: .milliseconds(1), example: "5s", of: &section)
    take("background_floor", \.backgroundFloor, from: .milliseconds(1), example: "15min", of: &section)
    take("deadline_cap", \.deadlineCap, from: .seconds(1), example: "10min", of: &section)
    maxConcurrent = section.takeInteger("max_concurrent", within: 1...1000, example: 4).map(Int.init)
    maxConcurrentPerUser = section.takeInteger("max_concurrent_per_user", within: 1...1000, example: 2).map(Int.init)
    let unknown: UnknownConditions? = section.takeWord("unknown_conditions", example: .met)
    unknownIsMet = unknown.map { $0 == .met } ?? unknownIsMet
    powerSaver = section.takeWord("power_saver", example: .dearer) ?? powerSaver
    profile = section.takeWord("profile", example: .balanced) ?? profile
    settle = section.takeDuration("settle", within: .zero ... .minutes(10), example: "20s") ?? settle
  }

  private mutating func take(
    _ key: String, _ limit: WritableKeyPath<Limits, Duration>, from lowest: Duration, example: String,
    of section: inout Section
  ) {
    if let duration = section.takeDuration(key, within: lowest ... .hours(24), example: example) {
      self[keyPath: limit] = duration
    } else if section.isWritten(key) {
      self[keyPath: limit] = Self.widest[keyPath: limit]
    }
  }

  /// The words of `unknown_conditions`.
  private enum UnknownConditions: String, CaseIterable {
    case met
    case unmet
  }
}
