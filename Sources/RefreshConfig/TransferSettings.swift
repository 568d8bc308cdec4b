import RefreshEngine

/// What `[transfers]` of `refreshd.toml` says of background transfers and is not the engine's (FEATURES F6, F7).
public struct TransferSettings: Hashable, Sendable {
  /// How many bytes all transfers together may move in a second; nil for any number.
  public var bandwidth: Int64?
  /// How long a try may go without a byte before it is given up and another is made.
  public var stallTimeout = Duration.seconds(60)

  /// Makes the default settings.
  public init() {}

  /// Takes the table out of `refreshd.toml`, and what the engine has to know of it into `limits`.
  init(from section: inout Section, limits: inout TransferLimits) {
    self.init()
    guard var table = section.takeTable("transfers", example: "[transfers], a table") else { return }
    limits.maxConcurrent = Self.takeCount("max_concurrent", example: 8, of: &table) ?? limits.maxConcurrent
    limits.maxPerHost = Self.takeCount("max_per_host", example: 6, of: &table) ?? limits.maxPerHost
    limits.giveUp = table.takeDuration("give_up", within: .seconds(1) ... .longest, example: "7d") ?? limits.giveUp
    stallTimeout =
      table.takeDuration("stall_timeout", within: .seconds(1) ... .hours(1), example: "60s") ?? stallTimeout
    let written = table.takeText("bandwidth", example: "1MB") { (text) throws(Unreadable) in
      text == "none" ? nil : try ByteSizes.bytes(text)
    }
    bandwidth = written ?? nil
    table.refuseUnknownKeys()
    section.adopt(table)
  }

  private static func takeCount(_ key: String, example: Int32, of table: inout Section) -> Int? {
    table.takeInteger(key, within: 1...1000, example: example).map(Int.init)
  }
}
