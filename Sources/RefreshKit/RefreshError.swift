import Glibc
import RefreshAPI
import Varlink

/// Why the daemon does not do what was asked: a code for the program, and a sentence for a person with what to do next.
public struct RefreshError: Error, CustomStringConvertible, Hashable, Sendable {
  /// What a program can tell apart.
  public enum Code: Hashable, Sendable {
    /// Nobody listens on the socket: refreshd is not installed, or not running.
    case noDaemon
    /// The connection ended, or brought no answer in time.
    case disconnected
    /// This user may not speak for the app, or may not use the socket.
    case notAllowed
    /// No file of the daemon's configuration names the app.
    case noSuchApp
    /// The interval is none that the daemon takes.
    case badInterval
    /// The daemon cannot keep the change, for instance on a full disk; nothing is changed.
    case notStored
    /// Daemon and app do not understand each other: their versions differ.
    case incompatible
    /// The process has no descriptor or no thread left.
    case noResources
    /// ``RefreshClient/close()`` was called.
    case closed
  }

  /// What it is.
  public let code: Code
  /// What happened, to what, and what to do next.
  public let description: String

  init(_ code: Code, _ description: String) {
    self.code = code
    self.description = description
  }

  /// What a call ended with that has no answer to use.
  init(_ error: ClientError, at socket: SocketPath) {
    switch error {
    case .unreachable(let reason) where [EACCES, EPERM].contains(reason.code):
      self.init(.notAllowed, "\(reason); ask the owner of the socket, or name another daemon")
    case .unreachable(let reason) where [EMFILE, ENFILE, ENOMEM, ENOBUFS].contains(reason.code):
      self.init(.noResources, "\(reason); close files, or raise RLIMIT_NOFILE")
    case .unreachable(let reason):
      self.init(.noDaemon, "\(reason); \(socket.remedy)")
    case .disconnected:
      self.init(.disconnected, "cannot hear from refreshd: it closed the connection; its journal may say why")
    case .malformed(let reason):
      self.init(.incompatible, "cannot read what refreshd answered (\(reason)); install the RefreshKit of its version")
    case .failed(let reply):
      self = Self.declared(reply) ?? Self(unknown: reply.name)
    }
  }

  /// What a call with one answer ended with.
  init(_ failure: CallFailure, at socket: SocketPath) {
    switch failure {
    case .failed(let error): self.init(error, at: socket)
    case .late: self = .late
    }
  }

  private init(unknown name: String) {
    self.init(.incompatible, "cannot do this: refreshd answered \(name); install the RefreshKit of its version")
  }

  /// The daemon is there and says nothing.
  static let late = RefreshError(
    .disconnected, "cannot hear from refreshd: it did not answer in time; see whether it runs: refreshctl status")

  static let closed = RefreshError(.closed, "cannot use a client that was closed; connect another one")

  /// The errors of the interfaces.
  private static func declared(_ reply: ErrorReply) -> RefreshError? {
    do throws(ClientError) {
      switch reply.name {
      case RefreshdInterface.NoSuchApp.name:
        return noSuchApp(try reply.parameters(as: RefreshdInterface.NoSuchApp.self).app)
      case RefreshdInterface.NotAllowed.name:
        let error = try reply.parameters(as: RefreshdInterface.NotAllowed.self)
        let act = error.app.map { "cannot speak for \($0): not allowed." } ?? "cannot do this:"
        return RefreshError(.notAllowed, "\(act) \(error.remedy)")
      case ManagerInterface.InvalidInterval.name:
        return RefreshError(.badInterval, try reply.parameters(as: ManagerInterface.InvalidInterval.self).problem)
      case RefreshdInterface.NotStored.name:
        let problem = try reply.parameters(as: RefreshdInterface.NotStored.self).problem
        return RefreshError(.notStored, "cannot keep the change, so nothing is changed: \(problem)")
      default: return nil
      }
    } catch {
      // An error whose parameters cannot be read is told by its name.
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
