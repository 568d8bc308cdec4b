import Glibc
import RefreshAPI

/// `refresh-worker reach`: tests whether a server accepts a TCP connection within a bound; sends nothing to it.
///
/// Tries all addresses of the name at once, IPv6 and IPv4, until the first connection. The exit code is 0 or 1, and the
/// last printed line is the result.
struct ReachTask {
  /// The most addresses of a name that are tried.
  private static let mostAddresses = 8

  private let order: Wire.ReachOrder
  /// When to give up, in milliseconds of the monotonic clock.
  private let end: Int64

  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    let order = TaskContext.confinedOrder(as: Wire.ReachOrder.self)
    // getaddrinfo(3) has no bound of its own.
    alarm(UInt32(clamping: order.patienceMicroseconds / 1_000_000 + 3))
    let problem = ReachTask(order).problem()
    print(problem ?? "answers")
    return problem == nil ? 0 : 1
  }

  private init(_ order: Wire.ReachOrder) {
    self.order = order
    end = Self.milliseconds() + order.patienceMicroseconds / 1000
  }

  /// The reason why the server cannot be reached; nil when it accepts a connection.
  private func problem() -> String? {
    var hints = addrinfo()
    (hints.ai_socktype, hints.ai_flags) = (Int32(SOCK_STREAM.rawValue), AI_NUMERICSERV)
    var list: UnsafeMutablePointer<addrinfo>?
    let code = getaddrinfo(order.host, "\(order.port)", &hints, &list)
    guard code == 0 else { return "no address: \(String(cString: gai_strerror(code)))" }
    defer { freeaddrinfo(list) }
    var (polls, last): ([pollfd], Int32) = ([], 0)
    defer { for poll in polls { close(poll.fd) } }
    var next = list
    while let address = next?.pointee, polls.count < Self.mostAddresses {
      next = address.ai_next
      let descriptor = socket(
        address.ai_family, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { last = errno; continue }
      if connect(descriptor, address.ai_addr, address.ai_addrlen) == 0 {
        close(descriptor)
        return nil
      }
      guard errno == EINPROGRESS else {
        last = errno
        close(descriptor)
        continue
      }
      polls.append(pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0))
    }
    return wait(for: &polls, last)
  }

  /// Waits for the first connection; `last` is the error of an address that was refused at once.
  private func wait(for polls: inout [pollfd], _ last: Int32) -> String? {
    var last = last
    while !polls.isEmpty {
      let left = end - Self.milliseconds()
      guard left > 0 else { return "no answer within \(order.patienceMicroseconds / 1_000_000) s" }
      let count = poll(&polls, nfds_t(polls.count), Int32(clamping: left))
      if count < 0, errno != EINTR { return "cannot wait for a connection: \(Self.text(errno))" }
      for (index, entry) in polls.enumerated().reversed() where count > 0 && entry.revents != 0 {
        var (code, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        guard getsockopt(entry.fd, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { code = errno; continue }
        if code == 0 { return nil }
        last = code
        close(entry.fd)
        polls.remove(at: index)
      }
    }
    return Self.text(last).lowercased()
  }

  private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

  private static func milliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
