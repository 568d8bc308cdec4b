import CLinux
import Glibc
import Threads

/// A listening socket of a server.
final class Listener {
  private let descriptor: Int32
  /// The path to remove at the end, if this process has bound it.
  private let boundPath: String?
  private let refusesDescriptors: Bool
  private weak var server: Server?
  private var watch: (any Watch)?
  /// A spare descriptor, closed for a moment to turn a client away when the process has no descriptor left.
  private var spare = linux_eventfd()

  /// The most clients that one turn of the loop admits.
  private static let batch = 16
  /// The time in nanoseconds after which a turn of the loop accepts no more, also if it turned all away.
  private static let span: UInt64 = 1_000_000

  init(descriptor: Int32, boundPath: String?, server: Server) throws {
    self.descriptor = descriptor
    self.boundPath = boundPath
    self.server = server
    refusesDescriptors = linux_refuses_descriptors(descriptor) != 0
    watch = try server.reactor.watch(descriptor, for: .readable) { [unowned self] _ in self.accept() }
  }

  func close() {
    watch?.cancel()
    watch = nil
    // Descriptors may wait in connections that were not accepted.
    if refusesDescriptors { Glibc.close(descriptor) } else { LastClose.close(descriptor) }
    Glibc.close(spare)
    if let boundPath { unlink(boundPath) }
  }

  private func accept() {
    var admitted = 0
    let start = monotonicNanoseconds()
    while admitted < Listener.batch, monotonicNanoseconds() - start < Listener.span {
      let client = linux_accept4(descriptor)
      if client >= 0 {
        if server?.admit(client) == true { admitted += 1 }
        continue
      }
      switch errno {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        // The socket stays readable, and the loop would spin, so make room or turn the client away.
        if server?.makeRoom() != true { turnAway() }
        return
      case EINTR, ECONNABORTED: continue
      default: return
      }
    }
  }

  private func turnAway() {
    Glibc.close(spare)
    let client = linux_accept4(descriptor)
    if client >= 0 { UnixSocket.turnAway(client) }
    spare = linux_eventfd()
  }
}

extension Server {
  /// Binds a socket to a path and listens there; `mode` is the file's mode, such as 0o666.
  ///
  /// Replaces a socket file on which no process listens any longer. The server removes the file when it stops listening.
  public func listen(at path: String, mode: mode_t) throws(SocketError) {
    let descriptor = try UnixSocket.listen(at: path, mode: mode)
    try add(descriptor, boundPath: path)
  }

  /// Listens on a bound, listening socket (socket activation), and takes ownership of the descriptor.
  public func listen(on descriptor: Int32) throws(SocketError) {
    try UnixSocket.setNonBlocking(descriptor)
    UnixSocket.listen(descriptor)
    try add(descriptor, boundPath: nil)
  }

  private func add(_ descriptor: Int32, boundPath: String?) throws(SocketError) {
    do {
      listeners.append(try Listener(descriptor: descriptor, boundPath: boundPath, server: self))
    } catch {
      Glibc.close(descriptor)
      throw SocketError("cannot watch the listening socket: \(error)", code: ENOMEM)
    }
  }
}
