/// The refreshes, run time and metered bytes that a machine may spend.
public struct Budget: Hashable, Sendable {
  /// Refreshes an app and day, on average over the apps that are planned.
  public var refreshesPerAppAndDay: Double
  /// Minutes of age that a refresh of cost 1 must spare.
  public var price: Double
  /// Seconds that a refresh may run on average within the budget: a third of the default deadline.
  public static let secondsPerRefresh = 10.0
  /// Bytes over metered connections a day for all apps, for each refresh an app and day of the budget: 10 MB.
  ///
  /// So `balanced` takes at most 1.5 GB a month, half of a small data plan.
  public static let meteredBytesPerRefresh = 10e6

  /// The budget of a profile: 12, 5 or 2 refreshes an app and day.
  public init(profile: Profile) {
    refreshesPerAppAndDay = profile.refreshesPerAppAndDay
    price = profile.price
  }
}
