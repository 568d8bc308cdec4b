import Glibc
import RefreshAPI
import Varlink

/// An error of the daemon or of the connection to it.
///
/// ``code`` is for programs, and ``description`` for people.
public struct RefreshError: Error, CustomStringConvertible, Hashable, Sendable {
  /// The kinds of errors that a program can tell apart.
  public enum Code: Hashable, Sendable {
    /// No daemon listens on the socket: refreshd is not installed or does not run.
    case noDaemon
    /// The connection ended, or the daemon did not reply in time.
    case disconnected
    /// This user may not act for the app, or may not use the socket.
    case notAllowed
    /// No file of the daemon's configuration names the app, or it is a guard, which has no refreshes.
    case noSuchApp
    /// The daemon does not accept the interval.
    case badInterval
    /// The daemon cannot save the change, for example on a full disk; nothing is changed.
    case notStored
    /// The versions of the daemon and of this library do not fit together.
    case incompatible
    /// The process has no descriptor or no thread left.
    case noResources
    /// ``RefreshClient/close()`` was called.
    case closed
    /// The task that connects was cancelled.
    case cancelled
  }

  /// The kind of error.
  public let code: Code
  /// The failed action, its reason, and a remedy.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// Converts the error of a connection to the daemon.
  init(_ error: ClientError, at socket: SocketPath) {
    switch error {
    case .unreachable(let reason) where [EACCES, EPERM].contains(reason.code):
      self.init(.notAllowed, "\(reason); ask the owner of the socket, or name another daemon")
    case .unreachable(let reason) where [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(reason.code):
      self.init(.noResources, "\(reason); close files, or raise RLIMIT_NOFILE")
    case .unreachable(let reason):
      self.init(.noDaemon, "\(reason); \(socket.remedy)")
    case .disconnected:
      self.init(.disconnected, "cannot reach refreshd: it closed the connection; see its journal")
    case .malformed(let reason):
      self.init(.incompatible, "cannot read what refreshd answered (\(reason)); install the RefreshKit of its version")
    case .failed(let reply):
      self = Self.declared(reply) ?? Self(unknown: reply.name)
    }
  }

  /// Converts the failure of a call with one reply.
  init(_ failure: CallFailure, at socket: SocketPath) {
    switch failure {
    case .failed(let error): self.init(error, at: socket)
    case .late: self = .late
    }
  }

  private init(unknown name: String) {
    self.init(.incompatible, "cannot do this: refreshd answered \(name); install the RefreshKit of its version")
  }

  /// The daemon is there but does not reply.
  static let late = RefreshError(
    .disconnected, "cannot reach refreshd: it did not answer in time; check whether it runs: refreshctl status")

  static let cancelled = RefreshError(.cancelled, "cannot connect to refreshd: the task was cancelled")

  static let closed = RefreshError(.closed, "cannot use a client that was closed; connect another one")

  /// Converts the errors that the interfaces declare; nil for any other.
  private static func declared(_ reply: ErrorReply) -> RefreshError? {
    do throws(ClientError) {
      switch reply.name {
      case RefreshdInterface.NoSuchApp.name:
        return noSuchApp(try reply.parameters(as: RefreshdInterface.NoSuchApp.self).app)
      case RefreshdInterface.NotAllowed.name:
        let error = try reply.parameters(as: RefreshdInterface.NotAllowed.self)
        let act = error.app.map { "cannot act for \($0): not allowed." } ?? "cannot do this:"
        return RefreshError(.notAllowed, "\(act) \(error.remedy)")
      case RefreshdInterface.IsGuard.name:
        let error = try reply.parameters(as: RefreshdInterface.IsGuard.self)
        return RefreshError(
          .noSuchApp, "cannot refresh \(error.app): it guards \(error.unit) and refreshes nothing; name another app")
      case ManagerInterface.InvalidInterval.name:
        return RefreshError(.badInterval, try reply.parameters(as: ManagerInterface.InvalidInterval.self).problem)
      case RefreshdInterface.NotStored.name:
        let problem = try reply.parameters(as: RefreshdInterface.NotStored.self).problem
        return RefreshError(.notStored, "cannot keep the change, so nothing is changed: \(problem)")
      default: return nil
      }
    } catch {
      // If the parameters cannot be read, the caller reports the name of the error.
      return nil
    }
  }

  private static func noSuchApp(_ app: String) -> RefreshError {
    RefreshError(
      .noSuchApp,
      "cannot find the app \(app): no file of refreshd's configuration names it; add apps.d/\(app).toml and "
        + "`refreshctl reload`")
  }
}
