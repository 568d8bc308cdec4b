import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// Puts the configuration on disk in force, or answers with every mistake in it.
  func reload(_ call: Call<ManagerInterface.Reload.Parameters>) {
    guard mayAll(call) else { return }
    reload { problems in
      if problems.isEmpty {
        call.reply(ManagerInterface.Reload.Reply())
      } else {
        call.fail(ManagerInterface.BadConfiguration(problems: problems.map(Wire.Problem.init)))
      }
    }
  }

  /// Answers with every mistake in the configuration on disk, and changes nothing.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard mayAll(call) else { return }
    ports.files.problems { problems in
      call.reply(ManagerInterface.Check.Reply(problems: problems.map(Wire.Problem.init)))
    }
  }
}
