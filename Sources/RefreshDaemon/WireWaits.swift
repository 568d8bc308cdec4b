import RefreshAPI
import RefreshEngine
import RefreshStore

extension Wire.Waiting {
  init(_ waiting: Waiting, wallOffset: Duration) {
    self.init(
      sinceMicroseconds: waiting.since.wallMicroseconds(at: wallOffset), holds: waiting.holds.map(\.rawValue))
  }
}

extension Wire.Wait {
  init(_ wait: StoredWait) {
    self.init(
      sinceMicroseconds: wait.sinceWallMicroseconds, untilMicroseconds: wait.untilWallMicroseconds,
      holds: wait.holds.map(\.rawValue))
  }
}
