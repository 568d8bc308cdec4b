import RefreshAPI
import RefreshEngine

// The user's switches, in wall time.

extension Wire.PauseState {
  init(_ pause: Pause, wallOffset: Duration) {
    switch pause {
    case .untilResumed: self.init(untilAC: false)
    case .until(let until): self.init(untilMicroseconds: until.wallMicroseconds(at: wallOffset), untilAC: false)
    case .untilAC: self.init(untilAC: true)
    }
  }
}

extension Wire.OneShot {
  init(_ oneShot: OneShot, wallOffset: Duration) {
    self.init(earliestMicroseconds: oneShot.earliest.wallMicroseconds(at: wallOffset), reason: oneShot.reason)
  }
}
