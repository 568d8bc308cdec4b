import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Lets transfers go on, also those that wait for time to pass or for room (FEATURES F7).
  func resumeTransfers(_ call: Call<TransfersInterface.Resume.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    let paused = ids.filter(isPaused)
    steer(
      ids.flatMap { [.transferPaused($0, false), .roomFound($0)] }, undo: paused.map { .transferPaused($0, true) },
      for: call)
  }
}
