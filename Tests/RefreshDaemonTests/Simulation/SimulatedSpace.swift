import RefreshEngine

@testable import RefreshDaemon

/// The space on the disk of the transfers, and the file system that answers late, or not for an hour.
final class SimulatedSpace {
  private unowned let world: SimulatedWorld
  private var isShort = false
  /// The questions that are not answered for a long time.
  private var open = 0
  /// Since when a transfer that waits is to find the space that there is.
  private var clear: (at: Int64, excused: Int64) = (0, 0)
  private var waiting: [TransferID: (at: Int64, excused: Int64)] = [:]
  private var nextCheck: Int64 = 0

  private static let patience: Int64 = 120_000_000

  init(_ world: SimulatedWorld) { self.world = world }

  func ask(_ needs: [TransferID: Int64], _ answer: @escaping ([TransferID]) -> Void) {
    let kind = world.isHealed ? 0 : world.fate.number(below: 10)
    let isLong = kind > 7
    let span: ClosedRange<Duration> =
      switch kind {
      case 8: .seconds(2) ... .minutes(1)
      case 9: .minutes(1) ... .hours(1)
      default: .milliseconds(1) ... .seconds(1)
      }
    if isLong { open += 1 }
    world.later(world.fate.duration(span)) { [unowned self] in
      if isLong {
        open -= 1
        begin()
      }
      let hasRoom = !isShort && world.fault != .findsNoRoom
      world.note("there is \(hasRoom ? "room" : "no room") for \(needs.count) transfers")
      answer(hasRoom ? needs.keys.sorted() : [])
    }
  }

  /// The disk fills up, and somebody makes room a while later.
  func runShort() {
    guard !isShort else { return }
    world.note("the disk of the transfers is full")
    isShort = true
    world.after(world.fate.duration(.minutes(1) ... .minutes(30))) { [unowned self] in heal() }
  }

  func heal() {
    guard isShort else { return }
    world.note("there is room on the disk of the transfers")
    isShort = false
    begin()
  }

  private func begin() { clear = (world.now, world.excused) }

  /// The daemon is gone, with its questions.
  func loseDaemon() {
    (open, waiting) = (0, [:])
    begin()
  }

  /// Checks each minute that no transfer waits for space that is there.
  func check(_ daemon: Daemon) {
    guard world.now >= nextCheck, !daemon.core.engine.isStopping else { return }
    nextCheck = world.now + 60_000_000
    var still: [TransferID: (at: Int64, excused: Int64)] = [:]
    for id in world.book.clients.openTransfers {
      guard case .noSpace = daemon.core.engine.transferState(of: id)?.stage else { continue }
      let since = waiting[id] ?? (world.now, world.excused)
      still[id] = since
      let late = min(world.book.late(since: since.at, since.excused), world.book.late(since: clear.at, clear.excused))
      if !isShort, open == 0, late > Self.patience {
        world.book.fail(.roomIsFound, "transfer \(id) waits for space that there is")
      }
    }
    waiting = still
  }
}
