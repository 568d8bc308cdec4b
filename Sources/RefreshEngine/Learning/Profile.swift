/// How much this machine may spend on fresh apps: the budget, and the price.
public enum Profile: String, Hashable, Sendable, CaseIterable {
  /// 12 refreshes an app and day: for a machine on mains power.
  case fresh
  /// 5 refreshes an app and day.
  case balanced
  /// 2 refreshes an app and day: for a small battery or a dear network.
  case thrifty

  /// Refreshes an app and day, on average over the apps that are planned.
  public var refreshesPerAppAndDay: Double {
    switch self {
    case .fresh: 12
    case .balanced: 5
    case .thrifty: 2
    }
  }

  /// The price: the least minutes of age that a refresh must spare, so that the budget is a bound and not a target.
  ///
  /// Measured: at this price generated fleets take about the budget, and people of habit take less, because they need less.
  var price: Double {
    switch self {
    case .fresh: 2
    case .balanced: 10.5
    case .thrifty: 100
    }
  }
}
