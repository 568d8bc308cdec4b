import RefreshAPI
import Varlink

extension Daemon {
  /// Tells all that is counted and measured, as OpenMetrics text (FEATURES H9).
  func metrics(_ call: Call<ManagerInterface.Metrics.Parameters>) {
    guard core.access.mayAll(call.peer) else {
      return call.fail(ManagerInterface.NotAllowed(remedy: core.access.remedy))
    }
    call.reply(ManagerInterface.Metrics.Reply(text: metricsText(at: core.readClocks())))
  }
}
