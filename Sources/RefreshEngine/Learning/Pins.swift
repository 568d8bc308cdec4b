/// Numbers of an app's file that take the place of learnt ones.
public struct Pins: Hashable, Sendable {
  /// How often a day the source has something new; greater than 0.
  public var newDataPerDay: Double?
  /// When the app is opened, minutes of the local day, once each day; empty for "as learnt".
  public var openings: [Int] = []
  /// The cost of a refresh, relative to the machine's typical refresh; greater than 0.
  public var cost: Double?

  /// Pins nothing.
  public init() {}
}
