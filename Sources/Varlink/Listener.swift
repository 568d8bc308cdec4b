import CLinux
import Glibc

/// One listening socket of a server.
final class Listener {
  private let descriptor: Int32
  /// The path to remove at the end, where this process has bound it.
  private let boundPath: String?
  private weak var server: Server?
  private var watch: (any Watch)?
  private var isPaused = false
  /// A descriptor to give up for a moment, so that a client can be turned away when there is no other.
  private var reserve: Int32

  /// How many clients one turn of the loop lets in.
  private static let batch = 16

  init(descriptor: Int32, boundPath: String?, server: Server) throws {
    self.descriptor = descriptor
    self.boundPath = boundPath
    self.server = server
    reserve = Listener.openReserve()
    watch = try server.reactor.watch(descriptor, for: .readable) { [unowned self] _ in self.accept() }
  }

  func close() {
    watch?.cancel()
    watch = nil
    Glibc.close(descriptor)
    if reserve >= 0 { Glibc.close(reserve) }
    if let boundPath { unlink(boundPath) }
  }

  /// Listens again after there were no descriptors left.
  func resume() {
    guard isPaused else { return }
    isPaused = false
    watch?.events = .readable
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
        // The socket stays readable, so the loop would spin: someone has to go.
        if server?.endIdlest() != true { turnAway() }
        return
      case EINTR, ECONNABORTED: continue
      default: return
      }
    }
  }

  /// Closes the client that waits longest, or has all wait until a connection ends.
  private func turnAway() {
    if reserve >= 0 {
      Glibc.close(reserve)
      let client = linux_accept4(descriptor)
      if client >= 0 { Glibc.close(client) }
      reserve = Listener.openReserve()
      if client >= 0 { return }
    }
    guard server?.connectionCount != 0 else { return }
    isPaused = true
    watch?.events = []
  }

  private static func openReserve() -> Int32 {
    open("/dev/null", O_RDONLY | O_CLOEXEC)
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
