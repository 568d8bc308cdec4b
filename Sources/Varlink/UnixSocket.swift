import CLinux
import Glibc
import Threads

/// The error of a Unix socket that cannot be made, bound or reached.
public struct SocketError: Error, CustomStringConvertible, Equatable {
  /// The failed operation, the socket, and a remedy.
  public let description: String
  /// The error number of the system, as in errno(3).
  public let code: Int32

  init(_ description: String, code: Int32) {
    self.description = description
    self.code = code
  }

  /// Makes an error from the errno of a system call.
  init(_ what: String, errno code: Int32) {
    self.init("\(what): \(String(cString: strerror(code)))", code: code)
  }
}

/// Functions for stream sockets in the file system: unix(7).
enum UnixSocket {
  /// Binds a socket and listens.
  ///
  /// Replaces a stale socket file, on which no process listens.
  static func listen(at path: String, mode: mode_t) throws(SocketError) -> Int32 {
    let socket = try make()
    do throws(SocketError) {
      if try !bind(socket, to: path, mode: mode) {
        guard isSocket(path) else {
          throw SocketError(
            "cannot listen on \(path): another file has this name; remove it or choose another path", code: ENOTSOCK)
        }
        guard try isStale(path) else {
          throw SocketError(
            "cannot listen on \(path): another process listens there; stop it or choose another path",
            code: EADDRINUSE)
        }
        unlink(path)
        guard try bind(socket, to: path, mode: mode) else {
          throw SocketError("cannot listen on \(path)", errno: EADDRINUSE)
        }
      }
      guard listen(socket) == 0 else { throw SocketError("cannot listen on \(path)", errno: errno) }
      try setNonBlocking(socket)
      return socket
    } catch {
      Glibc.close(socket)
      throw error
    }
  }

  /// Sets how many clients may wait for accept(2); returns -1 and sets errno if that fails.
  ///
  /// The kernel makes a further client wait in connect(2), or fails a non-blocking one with EAGAIN. A longer queue would
  /// make every client wait longer behind the flood of one.
  @discardableResult
  static func listen(_ socket: Int32) -> Int32 { Glibc.listen(socket, 512) }

  /// Connects to a socket; blocks.
  static func connect(to path: String) throws(SocketError) -> Int32 {
    let socket = try make()
    let result = try closing(socket) { () throws(SocketError) in
      try withAddress(of: path) { address, size in Glibc.connect(socket, address, size) }
    }
    guard result == 0 else {
      let code = errno
      Glibc.close(socket)
      throw SocketError("cannot connect to \(path)", errno: code)
    }
    return socket
  }

  /// Closes a connection, without waiting for the close of descriptors that the peer may have sent.
  static func close(_ socket: Int32, refusesDescriptors: Bool) {
    if !refusesDescriptors {
      // Nothing more can arrive, and what has arrived can be checked.
      shutdown(socket, Int32(SHUT_RDWR))
      if linux_is_drained(socket) == 0 { return LastClose.close(socket) }
    }
    Glibc.close(socket)
  }

  /// Closes an accepted connection that is not served; `hasLeft` if its peer has closed its end.
  static func turnAway(_ client: Int32, hasLeft: Bool = false) {
    // The fast path for floods: nothing more can arrive, and closing what has arrived cannot hang.
    if hasLeft, linux_holds_descriptors(client) == 0 {
      Glibc.close(client)
    } else {
      close(client, refusesDescriptors: linux_refuses_descriptors(client) != 0)
    }
  }

  /// Whether the peer of a connected socket has closed its end.
  static func isHungUp(_ client: Int32) -> Bool {
    var events = pollfd(fd: client, events: 0, revents: 0)
    return poll(&events, 1, 0) > 0 && events.revents & Int16(POLLHUP) != 0
  }

  static func setNonBlocking(_ descriptor: Int32) throws(SocketError) {
    let flags = fcntl(descriptor, F_GETFL)
    guard flags >= 0, fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0,
      fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
    else { throw SocketError("cannot use descriptor \(descriptor)", errno: errno) }
  }

  private static func make() throws(SocketError) -> Int32 {
    let socket = linux_stream_socket()
    guard socket >= 0 else { throw SocketError("cannot make a socket", errno: errno) }
    _ = linux_refuses_descriptors(socket)
    return socket
  }

  /// Returns false if a file has the path.
  private static func bind(_ socket: Int32, to path: String, mode: mode_t) throws(SocketError) -> Bool {
    // fchmod before bind, because the file must never have a wider mode; chmod afterwards, because of the umask.
    fchmod(socket, mode)
    guard try withAddress(of: path, { address, size in Glibc.bind(socket, address, size) }) == 0 else {
      if errno == EADDRINUSE { return false }
      throw SocketError("cannot listen on \(path)", errno: errno)
    }
    guard chmod(path, mode) == 0 else { throw SocketError("cannot set the mode of \(path)", errno: errno) }
    return true
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func isStale(_ path: String) throws(SocketError) -> Bool {
    do throws(SocketError) {
      let socket = try connect(to: path)
      defer { Glibc.close(socket) }
      return hasEnded(listenerOf: socket)
    } catch {
      return error.code == ECONNREFUSED
    }
  }

  /// Whether the listening process has ended, so that only a child of it still holds the socket.
  ///
  /// A child has all descriptors of its parent until execve(2), and may outlive a killed parent.
  private static func hasEnded(listenerOf socket: Int32) -> Bool {
    let pidfd = linux_peer_pidfd(socket)
    // Before Linux 6.5 this is unknown. Later, a reaped process has no descriptor, and that of an ended one is readable.
    guard pidfd >= 0 else { return errno == ESRCH || errno == EINVAL }
    defer { Glibc.close(pidfd) }
    var end = pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0)
    return poll(&end, 1, 0) > 0
  }

  private static func closing<Result>(
    _ socket: Int32, _ body: () throws(SocketError) -> Result
  ) throws(SocketError) -> Result {
    do throws(SocketError) {
      return try body()
    } catch {
      Glibc.close(socket)
      throw error
    }
  }

  private static func withAddress(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(SocketError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let room = MemoryLayout.size(ofValue: address.sun_path)
    // The last byte is the NUL.
    guard path.utf8.count < room else {
      throw SocketError(
        "cannot use \(path): the path of a socket has at most \(room - 1) bytes; choose a shorter one",
        code: ENAMETOOLONG)
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}
