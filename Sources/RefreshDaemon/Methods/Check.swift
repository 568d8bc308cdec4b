import RefreshAPI
import RefreshConfig
import Varlink

extension Daemon {
  /// Reads the configuration on disk and says every mistake; the one in force stays.
  func check(_ call: Call<ManagerInterface.Check.Parameters>) {
    guard access.mayAll(call.peer) else { return call.fail(ManagerInterface.NotAllowed(remedy: access.remedy)) }
    Task {
      var problems: [Problem] = []
      do throws(ConfigurationError) {
        _ = try await reader.read()
      } catch {
        problems = error.problems
      }
      call.reply(ManagerInterface.Check.Reply(problems: problems.map(Wire.Problem.init)))
    }
  }
}
