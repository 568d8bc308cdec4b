import CLinux
import DequeModule
import Glibc

/// The connections with a pending call, in turn: next is the user whose calls have taken the least time.
///
/// A user with a thousand connections, a thousand calls on one, or long calls gets as much time as every other waiting
/// user. The answers to consecutive calls of a user are sent together, so that a client that waits on many connections
/// wakes only once; a wake costs more than a call.
final class TurnLine {
  /// A user's connections in line, and the time that their calls have taken since the line was last empty.
  private final class Share {
    let uid: uid_t
    var connections: Deque<Connection> = []
    var used: UInt64 = 0

    init(_ uid: uid_t) { self.uid = uid }
  }

  private var shares: [uid_t: Share] = [:]
  /// The users with connections in line.
  private var waiting: [Share] = []
  /// The time used by the user whose turn was last; a user who joins the line starts with at least as much.
  private var reached: UInt64 = 0
  /// The connections whose turns have not ended: their answers are not sent yet.
  private var unfinished: [Connection] = []
  private let descriptor: Int32
  private var watch: (any Watch)?

  /// The time in nanoseconds for which one turn of the loop handles calls, at least one call.
  private static let span: UInt64 = 1_000_000
  /// The most time in nanoseconds that a user must leave to others, even after a longer call.
  private static let mostOwed: UInt64 = 20_000_000

  /// Makes a line whose turns the loop takes through an always readable descriptor.
  init(_ reactor: any Reactor) {
    descriptor = linux_eventfd()
    var one: UInt64 = 1
    _ = Glibc.write(descriptor, &one, MemoryLayout<UInt64>.size)
    do { watch = try reactor.watch(descriptor, for: []) { [unowned self] _ in takeTurns() } } catch { watch = nil }
  }

  deinit { close() }

  /// Whether no connection waits.
  var isEmpty: Bool { waiting.isEmpty }

  func close() {
    guard watch != nil else { return }
    watch?.cancel()
    watch = nil
    Glibc.close(descriptor)
    (shares, waiting) = ([:], [])
  }

  func add(_ connection: Connection) {
    let uid = connection.peer.uid
    if waiting.isEmpty { watch?.events = .readable }
    let share = shares[uid] ?? Share(uid)
    shares[uid] = share
    if share.connections.isEmpty {
      share.used = min(max(share.used, reached), reached + Self.mostOwed)
      waiting.append(share)
    }
    share.connections.append(connection)
  }

  private func takeTurns() {
    let start = monotonicNanoseconds()
    var now = start
    func charge(_ share: Share) {
      let before = now
      now = monotonicNanoseconds()
      share.used += now - before
    }
    while let share = first {
      reached = share.used
      while first === share, let next = next(of: share) {
        next.takeTurn()
        unfinished.append(next)
        charge(share)
        guard now - start < Self.span else { break }
      }
      for connection in unfinished { connection.endTurn() }
      unfinished.removeAll(keepingCapacity: true)
      charge(share)
      guard now - start < Self.span else { break }
    }
    guard waiting.isEmpty else { return }
    watch?.events = []
    (shares, reached) = ([:], 0)
  }

  /// The waiting user who has used the least time.
  private var first: Share? { waiting.min { $0.used < $1.used } }

  private func next(of share: Share) -> Connection? {
    let next = share.connections.popFirst()
    if share.connections.isEmpty { waiting.removeAll { $0 === share } }
    return next
  }
}

/// The time of the monotonic clock in nanoseconds.
func monotonicNanoseconds() -> UInt64 {
  var now = timespec()
  clock_gettime(CLOCK_MONOTONIC, &now)
  return UInt64(now.tv_sec) * 1_000_000_000 + UInt64(now.tv_nsec)
}
