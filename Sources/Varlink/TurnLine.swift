import CLinux
import DequeModule
import Glibc

/// The connections that have a call to be taken up, in turn: the users one after the other, and one call each time.
///
/// A user with a thousand connections, or a thousand calls on one, has one turn beside each other user. The answers to
/// calls of one user that follow one another are sent together: a client that waits on many connections is then woken
/// once, which costs more than a call does.
final class TurnLine {
  private var ofUser: [uid_t: Deque<Connection>] = [:]
  private var users: Deque<uid_t> = []
  /// The connections whose turn is to end: their answers are not sent yet.
  private var taken: [Connection] = []
  private let descriptor: Int32
  private var watch: (any Watch)?

  /// How long one turn of the loop takes calls up, in nanoseconds; at least one call.
  private static let span: UInt64 = 1_000_000

  /// A line of which the loop takes one turn after the other, through a descriptor that is always readable.
  init(_ reactor: any Reactor) {
    descriptor = linux_eventfd()
    var one: UInt64 = 1
    _ = Glibc.write(descriptor, &one, MemoryLayout<UInt64>.size)
    do { watch = try reactor.watch(descriptor, for: []) { [unowned self] _ in takeTurns() } } catch { watch = nil }
  }

  deinit { close() }

  /// Whether nobody waits.
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

/// The time of a clock that only goes on.
func monotonicNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
