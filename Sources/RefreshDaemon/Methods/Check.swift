import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// Reads the configuration on disk and says every mistake; the one in force stays.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard core.access.mayAll(call.peer) else {
      return call.fail(ManagerInterface.NotAllowed(remedy: core.access.remedy))
    }
    ports.files.problems { problems in
      call.reply(ManagerInterface.Check.Reply(problems: problems.map(Wire.Problem.init)))
    }
  }
}
