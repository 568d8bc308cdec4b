/// The share of processor and disk for refreshes that nobody waits for.
public enum BackgroundPriority: String, Hashable, Sendable, CaseIterable {
  /// A fifth of the share of other processes, where there is not enough for all.
  case low
  /// The share of other processes.
  case normal
}

extension Engine {
  /// Whether a refresh of an app that starts now has low priority, so that the user's work comes first.
  ///
  /// A person waits for a refresh that was asked for, and for every refresh of an app in front.
  public func givesWay(_ id: AppID, _ trigger: Trigger) -> Bool {
    guard let index = apps.index(of: id), apps[index].policy?.backgroundPriority == .low else { return false }
    return trigger != .manual && trigger != .foreground && apps[index].phase != .foreground
  }
}
