import ArgumentParser
import RefreshAPI

extension CompletionKind {
  /// Completes the ids of the apps.
  static var apps: CompletionKind {
    answered { daemon throws(Failure) in try daemon.call(ManagerInterface.List.self, .init()).apps.map(\.id) }
  }

  /// Completes the numbers of transfers that have not ended.
  static var transfers: CompletionKind {
    answered { daemon throws(Failure) in
      try daemon.call(TransfersInterface.List.self, .init()).transfers.filter { $0.state != .ended }.map { "\($0.id)" }
    }
  }

  /// Completes words that the daemon knows; the shell's completion script runs this program for them.
  private static func answered(
    _ words: @escaping @Sendable (DaemonClient) throws(Failure) -> [String]
  ) -> CompletionKind {
    .custom { _, _, prefix in
      do throws(Failure) {
        return try words(DaemonClient(socket: nil, .ofCompletion)).filter { $0.hasPrefix(prefix) }
      } catch {
        // A message would end up in the middle of the user's command line.
        return []
      }
    }
  }
}
