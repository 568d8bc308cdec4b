import RefreshAPI
import RefreshStore

extension Wire.Wait {
  init(_ wait: StoredWait) {
    self.init(
      sinceMicroseconds: wait.sinceWallMicroseconds, untilMicroseconds: wait.untilWallMicroseconds,
      holds: wait.holds.map(\.rawValue))
  }
}
