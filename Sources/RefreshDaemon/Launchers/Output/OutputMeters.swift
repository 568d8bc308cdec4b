import RefreshEngine

/// The allowances of all apps whose tasks have printed something lately.
final class OutputMeters {
  /// The allowance of one app, which its tasks share.
  final class Meter {
    var allowance = OutputAllowance()
  }

  /// How many apps are remembered before idle apps are forgotten.
  private static let bound = 64
  private var meters: [AppID: Meter] = [:]

  /// The meter of an app.
  func meter(of app: AppID, at now: Int64) -> Meter {
    if let known = meters[app] { return known }
    if meters.count >= Self.bound { meters = meters.filter { !$1.allowance.isFull(at: now) } }
    let meter = Meter()
    meters[app] = meter
    return meter
  }
}
