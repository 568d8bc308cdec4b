import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Pauses all apps for a time, until mains power or until `Resume`.
  func pause(_ call: Call<ManagerInterface.Pause.Parameters>) {
    guard mayAll(call) else { return }
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
    change([.paused(pause)], for: call) {
      ManagerInterface.Pause.Reply(pause: self.core.engine.wirePause)
    }
  }

  /// Ends the pause of all apps, if there is one.
  func resume(_ call: Call<ManagerInterface.Resume.Parameters>) {
    guard mayAll(call) else { return }
    change([.paused(nil)], for: call) { ManagerInterface.Resume.Reply() }
  }
}
