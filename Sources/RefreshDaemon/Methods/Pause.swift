import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Pauses all apps, for a time, until mains power or until `resume` (FEATURES D7).
  func pause(_ call: Call<ManagerInterface.Pause.Parameters>) {
    guard access.mayAll(call.peer) else { return call.fail(RefreshdInterface.NotAllowed(remedy: access.remedy)) }
    let pause: Pause
    switch (call.parameters.untilMicroseconds, call.parameters.untilAC ?? false) {
    case (nil, false): pause = .untilResumed
    case (nil, true): pause = .untilAC
    case (let microseconds?, false):
      guard let until = instant(ofWallMicroseconds: microseconds) else {
        return call.fail(InvalidParameter(parameter: "until_us"))
      }
      pause = .until(until)
    case (_?, true): return call.fail(InvalidParameter(parameter: "until_ac"))
    }
    change([.paused(pause)], undo: [.paused(engine.device.pause)], for: call) {
      ManagerInterface.Pause.Reply(pause: self.pauseState)
    }
  }

  /// The pause of all apps as the socket shows it.
  var pauseState: Wire.PauseState? {
    engine.device.pause.map { Wire.PauseState($0, wallOffset: engine.wallOffset) }
  }
}
