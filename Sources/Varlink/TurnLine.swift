import CLinux
import DequeModule
import Glibc

/// The connections with a pending call, in turn: one call of each user at a time.
///
/// A user with a thousand connections, or a thousand calls on one, gets one turn for each turn of every other user. The
/// answers to consecutive calls of a user are sent together. A client that waits on many connections then wakes once; a
/// wake costs more than a call.
final class TurnLine {
  private var ofUser: [uid_t: Deque<Connection>] = [:]
  private var users: Deque<uid_t> = []
  /// The connections whose turns have not ended: their answers are not sent yet.
  private var taken: [Connection] = []
  private let descriptor: Int32
  private var watch: (any Watch)?

  /// The time in nanoseconds for which one turn of the loop handles calls, at least one call.
  private static let span: UInt64 = 1_000_000

  /// Makes a line whose turns the loop takes through an always readable descriptor.
  init(_ reactor: any Reactor) {
    descriptor = linux_eventfd()
    var one: UInt64 = 1
    _ = Glibc.write(descriptor, &one, MemoryLayout<UInt64>.size)
    do { watch = try reactor.watch(descriptor, for: []) { [unowned self] _ in takeTurns() } } catch { watch = nil }
  }

  deinit { close() }

  /// Whether no connection waits.
  var isEmpty: Bool { users.isEmpty }

  func close() {
    guard watch != nil else { return }
    watch?.cancel()
    watch = nil
    Glibc.close(descriptor)
    (ofUser, users) = ([:], [])
  }

  func add(_ connection: Connection) {
    let uid = connection.peer.uid
    if users.isEmpty { watch?.events = .readable }
    if ofUser[uid] == nil { users.append(uid) }
    ofUser[uid, default: []].append(connection)
  }

  private func takeTurns() {
    let start = monotonicNanoseconds()
    let isTime = { monotonicNanoseconds() - start < Self.span }
    repeat {
      let uid = users.first
      while users.first == uid, let next = next() {
        next.takeTurn()
        taken.append(next)
        guard isTime() else { break }
      }
      for connection in taken { connection.endTurn() }
      taken.removeAll(keepingCapacity: true)
    } while !users.isEmpty && isTime()
    if users.isEmpty { watch?.events = [] }
  }

  private func next() -> Connection? {
    guard let uid = users.popFirst(), let next = ofUser[uid]?.popFirst() else { return nil }
    if ofUser[uid]?.isEmpty == true { ofUser[uid] = nil } else { users.append(uid) }
    return next
  }
}

/// The time of the monotonic clock in nanoseconds.
func monotonicNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
