import ArgumentParser
import RefreshAPI

extension CompletionKind {
  /// Completes the ids of the apps, for which the shell's completion script runs this program.
  static var apps: CompletionKind {
    .custom { _, _, prefix in
      do throws(Failure) {
        let daemon = try Daemon(ConnectionOptions())
        return try daemon.call(ManagerInterface.List.self, .init()).apps.map(\.id).filter { $0.hasPrefix(prefix) }
      } catch {
        // In the middle of a command line there is nobody to tell that no daemon answers.
        return []
      }
    }
  }
}
