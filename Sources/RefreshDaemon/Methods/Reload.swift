import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// Puts the configuration on disk in force, except for apps that were held already, or answers with the mistakes.
  func reload(_ call: Call<ManagerInterface.Reload.Parameters>) {
    guard mayAll(call) else { return }
    reload { problems in
      if problems.isEmpty {
        let held = self.core.configuration.held.map(Wire.Problem.init)
        call.reply(ManagerInterface.Reload.Reply(held: held.isEmpty ? nil : held))
      } else {
        call.fail(ManagerInterface.BadConfiguration(problems: problems.map(Wire.Problem.init)))
      }
    }
  }

  /// Answers with every mistake in the configuration on disk, and changes nothing.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard mayAll(call) else { return }
    files.problems { problems in
      call.reply(ManagerInterface.Check.Reply(problems: problems.map(Wire.Problem.init)))
    }
  }
}
