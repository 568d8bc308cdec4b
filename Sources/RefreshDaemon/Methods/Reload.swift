import RefreshAPI
import Varlink

extension Daemon {
  /// Puts the configuration on disk in force, or answers every mistake in it.
  func reload(_ call: Call<ManagerInterface.Reload.Parameters>) {
    guard core.access.mayAll(call.peer) else {
      return call.fail(ManagerInterface.NotAllowed(remedy: core.access.remedy))
    }
    reload { problems in
      if problems.isEmpty {
        call.reply(ManagerInterface.Reload.Reply())
      } else {
        call.fail(ManagerInterface.BadConfiguration(problems: problems.map(Wire.Problem.init)))
      }
    }
  }
}
