/// How many refreshes, and how much of two other things, a machine may spend (FEATURES C4).
public struct Budget: Hashable, Sendable {
  /// Refreshes an app and day, on average over the apps that are planned.
  public var refreshesPerAppAndDay: Double
  /// Seconds that a refresh of the budget may run on average: a third of the default deadline.
  public static let secondsPerRefresh = 10.0
  /// Bytes over metered connections in a day, all apps together.
  public var meteredBytesPerDay: Double?

  /// Makes a budget.
  public init(refreshesPerAppAndDay: Double, meteredBytesPerDay: Double? = nil) {
    self.refreshesPerAppAndDay = refreshesPerAppAndDay
    self.meteredBytesPerDay = meteredBytesPerDay
  }

  /// The budget of a profile: 12, 5 or 2 refreshes an app and day.
  public init(profile: Profile) { self.init(refreshesPerAppAndDay: profile.refreshesPerAppAndDay) }
}
