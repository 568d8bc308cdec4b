import CLinux
import Glibc
import Synchronization

/// What other threads have for the main thread to do.
final class MainQueue: Sendable {
  private let waiting = Mutex<[@MainActor () -> Void]>([])
  /// Readable when there is something to do.
  let bell: Int32

  /// Throws when the process has no descriptor left.
  init() throws(PushError) {
    bell = linux_eventfd()
    guard bell >= 0 else { throw PushError(.software, "cannot start: the limit on open files is too low; raise it") }
  }

  deinit { close(bell) }

  /// Has it done on the main thread, soon and in order.
  func add(_ action: @escaping @MainActor () -> Void) {
    waiting.withLock { $0.append(action) }
    var one: UInt64 = 1
    write(bell, &one, MemoryLayout.size(ofValue: one))
  }

  /// Does what there is to do.
  @MainActor func run() {
    var count: UInt64 = 0
    read(bell, &count, MemoryLayout.size(ofValue: count))
    let actions = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for action in actions { action() }
  }
}
