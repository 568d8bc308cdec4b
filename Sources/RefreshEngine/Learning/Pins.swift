/// Numbers of an app's file in place of learnt numbers.
public struct Pins: Hashable, Sendable {
  /// How often a day the source has new data; greater than 0.
  public var newDataPerDay: Double?
  /// When the app is opened, minutes of the local day, once each day; empty for "as learnt".
  public var openings: [Int] = []
  /// The cost of a refresh, relative to the machine's typical refresh; greater than 0.
  public var cost: Double?

  /// Pins nothing.
  public init() {}
}
