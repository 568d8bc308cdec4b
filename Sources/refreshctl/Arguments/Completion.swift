import ArgumentParser
@preconcurrency import Glibc
import RefreshAPI
import RefreshConfig

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

  /// Completes the names of the sessions of transfers.
  static var sessions: CompletionKind {
    answered { daemon throws(Failure) in
      Set(try daemon.call(TransfersInterface.List.self, .init()).transfers.map(\.session)).sorted()
    }
  }

  /// Completes the timers of the machine, or of the user's own service manager after `--user`.
  ///
  /// Reads their files, because a service manager answers more slowly than a person waits for a completion.
  static var timers: CompletionKind {
    completed { line in
      let user = (uid: geteuid(), home: environmentVariable("HOME") ?? "/")
      return UnitFiles().names(endingIn: ".timer", ofUser: line.contains("--user") ? user : nil)
    }
  }

  /// Completes words from the daemon's reply.
  private static func answered(
    _ words: @escaping @Sendable (DaemonClient) throws(Failure) -> [String]
  ) -> CompletionKind {
    completed { _ throws(Failure) in try words(DaemonClient(socket: nil, .ofCompletion)) }
  }

  /// Completes words for a command line; the shell's completion script runs this program for them.
  private static func completed(_ words: @escaping @Sendable ([String]) throws(Failure) -> [String]) -> CompletionKind {
    .custom { line, _, prefix in
      do throws(Failure) {
        return try words(line).filter { $0.hasPrefix(prefix) }
      } catch {
        // A message would end up in the middle of the user's command line.
        return []
      }
    }
  }
}
