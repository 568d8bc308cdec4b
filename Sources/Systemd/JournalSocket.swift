import Glibc
import Synchronization

/// Sends entries to journald as datagrams of its native protocol, and never waits for it.
///
/// sd_journal_sendv(3) blocks the event loop while journald is stopped or slow. This class keeps entries while the socket
/// is full. It drops and counts entries beyond the bound; a later entry reports their number.
final class JournalSocket: Sendable {
  /// The most entries and bytes that are kept while journald does not read.
  static let keptEntries = 1024
  static let keptBytes = 1 << 20
  /// The most bytes of one value, so that an entry always fits into a datagram.
  static let valueBound = 48 * 1024
  /// The address of journald, as in systemd-journald.service(8).
  static let standardPath = "/run/systemd/journal/socket"

  private struct State {
    var kept: [[UInt8]] = []
    var bytes = 0
    var dropped = 0
    /// Whether the socket had no room at the last attempt.
    var isFull = false
    /// Called when entries begin or cease to wait for room.
    var onWaiting: (@Sendable (Bool) -> Void)?
  }

  /// The socket, to watch for room; negative if the process could not make one.
  let descriptor: Int32
  private let path: String
  private let identifier: String
  private let state = Mutex(State())

  /// Makes a socket for the entries of a program.
  init(identifier: String, path: String = standardPath) {
    self.identifier = identifier
    self.path = path
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    _ = connect()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Calls `handler` with true when entries begin to wait for room, and with false when no entry waits any longer.
  func onWaiting(_ handler: @escaping @Sendable (Bool) -> Void) {
    let waits = state.withLock { state in
      state.onWaiting = handler
      return state.isFull
    }
    if waits { handler(true) }
  }

  /// Sends an entry of `NAME=VALUE` assignments, keeps it, or drops and counts it.
  func send(_ assignments: [String]) {
    let datagram = Self.datagram(assignments)
    update { state in
      flush(&state)
      guard state.kept.isEmpty, state.dropped == 0 else { return keep(datagram, in: &state) }
      if !write(datagram, &state) { keep(datagram, in: &state) }
    }
  }

  /// Keeps an entry for which there is no room, or counts it as dropped.
  private func keep(_ datagram: [UInt8], in state: inout State) {
    guard state.isFull, state.dropped == 0, state.kept.count < Self.keptEntries,
      state.bytes + datagram.count <= Self.keptBytes
    else { return state.dropped += 1 }
    state.kept.append(datagram)
    state.bytes += datagram.count
  }

  /// Sends the kept entries while there is room.
  func flush() { update(flush) }

  private func update(_ body: (inout State) -> Void) {
    let (handler, waits) = state.withLock { state in
      let before = state.isFull
      body(&state)
      return (before == state.isFull ? nil : state.onWaiting, state.isFull)
    }
    handler?(waits)
  }

  private func flush(_ state: inout State) {
    var sent = 0
    while sent < state.kept.count, write(state.kept[sent], &state) {
      state.bytes -= state.kept[sent].count
      sent += 1
    }
    state.kept.removeFirst(sent)
    guard state.kept.isEmpty, state.dropped > 0 else { return }
    let note = "MESSAGE=\(state.dropped) journal entries are missing here: journald did not read them in time"
    if write(Self.datagram([note, "PRIORITY=4", "SYSLOG_IDENTIFIER=\(identifier)"]), &state) { state.dropped = 0 }
  }

  /// Whether the datagram was sent or can never be; false if the socket is full or no journald reads it.
  private func write(_ datagram: [UInt8], _ state: inout State) -> Bool {
    state.isFull = false
    for _ in 1...2 {
      if Glibc.send(descriptor, datagram, datagram.count, Int32(MSG_NOSIGNAL)) >= 0 { return true }
      switch errno {
      case EINTR: continue
      // journald has created its socket again.
      case ECONNREFUSED, ENOTCONN, EDESTADDRREQ, EPIPE, ECONNRESET: guard connect() else { return false }
      case EAGAIN, ENOBUFS, ENOMEM:
        state.isFull = true
        return false
      default: return true
      }
    }
    return false
  }

  private func connect() -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }

  /// The entry in the native protocol: the length of a value precedes it if it has a line break.
  static func datagram(_ assignments: [String]) -> [UInt8] {
    var bytes: [UInt8] = []
    for assignment in assignments {
      guard let equals = assignment.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let value = assignment.utf8[assignment.utf8.index(after: equals)...].prefix(valueBound)
      bytes += assignment.utf8[..<equals]
      if value.contains(UInt8(ascii: "\n")) {
        bytes.append(UInt8(ascii: "\n"))
        withUnsafeBytes(of: UInt64(value.count).littleEndian) { bytes += $0 }
      } else {
        bytes.append(UInt8(ascii: "="))
      }
      bytes += value
      bytes.append(UInt8(ascii: "\n"))
    }
    return bytes
  }
}

/// Sends the kept entries as soon as journald has room.
///
/// Thread-confined, as its loop is: only that thread may write to the journal.
public final class JournalFlush {
  private let source: IOSource

  /// Watches the socket of a journal; nil if its entries go elsewhere.
  public init?(of journal: Journal, on loop: EventLoop) throws(SystemdError) {
    guard case .journal(let socket) = journal.destination, socket.descriptor >= 0 else { return nil }
    source = try loop.watch(socket.descriptor, for: []) { _ in socket.flush() }
    let watched = Watched(source: source)
    socket.onWaiting { watched.source?.events = $0 ? .writable : [] }
  }

  deinit { source.cancel() }

  /// The watch is used only on the loop's thread, which the compiler cannot see.
  private struct Watched: @unchecked Sendable {
    weak var source: IOSource?
  }
}
