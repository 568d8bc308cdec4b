/// How much this machine may do so that apps are fresh: the budget that the price is steered to.
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
}
