/// The share of processor and disk that refreshes get for which nobody waits.
public enum BackgroundPriority: String, Hashable, Sendable, CaseIterable {
  /// A fifth of what other processes get, where there is not enough for all.
  case low
  /// As much as other processes get.
  case normal
}

extension Engine {
  /// Whether a refresh of an app that starts now gives way to what the user does.
  ///
  /// A person waits for a refresh that was asked for, and for every refresh of an app in front.
  public func givesWay(_ id: AppID, _ trigger: Trigger) -> Bool {
    guard let app = apps[id], app.policy?.backgroundPriority == .low else { return false }
    return trigger != .manual && trigger != .foreground && app.phase != .foreground
  }
}
