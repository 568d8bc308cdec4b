import RefreshEngine

/// The keys of `refreshd.toml` that set limits for all apps.
extension Limits {
  /// The widest possible limits.
  ///
  /// They stand in for a limit that cannot be read, so that no app is refused for exceeding it.
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

/// The settings of `[transfers]` in `refreshd.toml` that the engine does not need.
public struct TransferSettings: Hashable, Sendable {
  /// The most bytes a second for all transfers together; nil for no bound.
  public var bandwidth: Int64?
  /// How long an attempt may receive nothing before it is ended and retried.
  public var stallTimeout = Duration.seconds(60)

  /// Makes the default settings.
  public init() {}

  /// Reads the table of `refreshd.toml`; sets the engine's values in `limits`.
  init(from section: inout Section, limits: inout TransferLimits) {
    self.init()
    self = section.readTable("transfers", example: "[transfers], a table") { Self(table: &$0, limits: &limits) } ?? self
  }

  private init(table: inout Section, limits: inout TransferLimits) {
    limits.maxConcurrent = table.read("max_concurrent", .integer(1...1000, example: 8)) ?? limits.maxConcurrent
    limits.maxPerHost = table.read("max_per_host", .integer(1...1000, example: 6)) ?? limits.maxPerHost
    limits.giveUp = table.read("give_up", .duration(.seconds(1) ... .longest, example: "7d")) ?? limits.giveUp
    stallTimeout = table.read("stall_timeout", .duration(.seconds(1) ... .hours(1), example: "60s")) ?? stallTimeout
    bandwidth = table.read("bandwidth", .optional(.bytes("1MB"), none: "none")) ?? nil
  }
}
