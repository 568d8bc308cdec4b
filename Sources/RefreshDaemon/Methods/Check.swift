import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// Reads the configuration on disk and says every mistake; the one in force stays.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard access.mayAll(call.peer) else { return call.fail(RefreshdInterface.NotAllowed(remedy: access.remedy)) }
    Task {
      call.reply(ManagerInterface.Check.Reply(problems: await reader.problems().map(Wire.Problem.init)))
    }
  }
}
