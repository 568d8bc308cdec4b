import RefreshAPI
import Varlink

// The questions of monitoring.

extension Daemon {
  /// Tells anyone the daemon's version.
  func version(_ call: Call<ManagerInterface.Version.Parameters>) {
    call.reply(ManagerInterface.Version.Reply(version: refreshdVersion, start: Int(core.engine.start)))
  }

  /// Gives all metrics as OpenMetrics text.
  func metrics(_ call: Call<ManagerInterface.Metrics.Parameters>) {
    guard mayAll(call) else { return }
    call.reply(ManagerInterface.Metrics.Reply(text: metricsText(at: core.readClocks())))
  }
}
