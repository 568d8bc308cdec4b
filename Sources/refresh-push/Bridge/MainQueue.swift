import CLinux
import Glibc
import Synchronization

/// A queue of actions that other threads send to the main thread.
final class MainQueue: Sendable {
  private let waiting = Mutex<[@MainActor () -> Void]>([])
  /// A descriptor that is readable while actions wait.
  let bell: Int32

  /// Throws if the process is out of descriptors.
  init() throws(PushError) {
    bell = linux_eventfd()
    guard bell >= 0 else { throw PushError(.software, "cannot start: the limit on open files is too low; raise it") }
  }

  deinit { close(bell) }

  /// Queues an action; the main thread runs actions in order.
  func add(_ action: @escaping @MainActor () -> Void) {
    waiting.withLock { $0.append(action) }
    var one: UInt64 = 1
    write(bell, &one, MemoryLayout.size(ofValue: one))
  }

  /// Runs the queued actions.
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
