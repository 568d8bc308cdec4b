/// The state that all apps share, which outlives the daemon and the boot.
public struct DeviceState: Hashable, Sendable {
  /// The user's pause of all apps; nil while there is none.
  public var pause: Pause?
  /// The learners that all apps share.
  public var learnings: Learnings
  /// The local day up to which the nights have passed, as ``LocalTime/day`` counts; nil before the first.
  public var day: Int?

  /// The state of a new device.
  public init(pause: Pause? = nil, learnings: Learnings = Learnings(budget: Budget(profile: .balanced))) {
    self.pause = pause
    self.learnings = learnings
  }

  /// The state with its instants changed, as the store changes them after a reboot.
  public func moved(_ change: (Instant) -> Instant) -> DeviceState {
    var state = self
    if case .until(let end) = pause { state.pause = .until(change(end)) }
    return state
  }
}
