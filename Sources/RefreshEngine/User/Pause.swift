/// The user's pause of all apps, with its end.
public enum Pause: Hashable, Sendable {
  /// Until `resume`.
  case untilResumed
  /// Until an instant, boot clock, or `resume`.
  case until(Instant)
  /// Until the machine is on mains power, or `resume`.
  case untilAC

  /// Whether its time has passed at an instant, boot clock.
  func isOver(at now: Instant) -> Bool { if case .until(let end) = self { end <= now } else { false } }
}

extension Engine {
  /// Pauses all apps, or ends the pause; running refreshes go on.
  mutating func setPause(_ pause: Pause?, _ turn: inout Turn) {
    var pause = pause
    if pause == .untilAC, conditions.power.value?.onBattery == false { pause = nil }
    guard device.pause != pause else { return }
    device.pause = pause
    transfers.isTouched = true
    turn.decision.changes.device.insert(.pause)
    turn.touched.insert(held.all)
  }

  /// Ends a pause that is over.
  mutating func endPause(_ turn: inout Turn) {
    if device.pause?.isOver(at: turn.now) == true { setPause(nil, &turn) }
  }
}
