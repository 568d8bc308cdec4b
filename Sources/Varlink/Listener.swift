import CLinux
import Glibc

/// A listening socket of a server.
final class Listener {
  private let descriptor: Int32
  /// The path to remove at the end, where this process has bound it.
  private let boundPath: String?
  private weak var server: Server?
  private var watch: (any Watch)?
  /// Given up for a moment to turn a client away when there are no descriptors left.
  private var spare = linux_eventfd()

  /// How many clients one turn of the loop lets in.
  private static let batch = 16

  init(descriptor: Int32, boundPath: String?, server: Server) throws {
    self.descriptor = descriptor
    self.boundPath = boundPath
    self.server = server
    watch = try server.reactor.watch(descriptor, for: .readable) { [unowned self] _ in self.accept() }
  }

  func close() {
    watch?.cancel()
    watch = nil
    Glibc.close(descriptor)
    Glibc.close(spare)
    if let boundPath { unlink(boundPath) }
  }

  private func accept() {
    for _ in 0..<Listener.batch {
      let client = linux_accept4(descriptor)
      if client >= 0 {
        server?.admit(client)
        continue
      }
      switch errno {
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        // The socket stays readable, so the loop would spin: room is made, or the client is turned away.
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
    if client >= 0 { Glibc.close(client) }
    spare = linux_eventfd()
  }
}

extension Server {
  /// Binds a socket to a path and listens there; `mode` is the file's mode, such as 0o666.
  ///
  /// A socket file that nobody listens on any more is replaced, and the file is removed when listening ends.
  public func listen(at path: String, mode: mode_t) throws(SocketError) {
    let descriptor = try UnixSocket.listen(at: path, mode: mode)
    try add(descriptor, boundPath: path)
  }

  /// Listens on a socket that is bound and listening already (socket activation), and takes the descriptor over.
  public func listen(on descriptor: Int32) throws(SocketError) {
    try UnixSocket.setNonBlocking(descriptor)
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
