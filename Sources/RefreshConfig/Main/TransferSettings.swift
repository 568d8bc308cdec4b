import RefreshEngine

/// The settings of `[transfers]` in `refreshd.toml` that the engine does not need.
public struct TransferSettings: Hashable, Sendable {
  /// The most bytes a second for all transfers together; nil for no bound.
  public var bandwidth: Int64?
  /// How long a try may receive no byte before it is ended and retried.
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
