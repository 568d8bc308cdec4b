import CLinux
import Glibc
import RefreshAPI
import Synchronization

/// A queue of actions that other threads send to the main thread.
final class MainQueue: Sendable {
  private let waiting = Mutex<[@MainActor () -> Void]>([])
  /// A descriptor that is readable while actions wait.
  let eventDescriptor: Int32

  /// Throws if the process is out of descriptors.
  init() throws(ServiceError) {
    eventDescriptor = linux_eventfd()
    guard eventDescriptor >= 0 else {
      throw ServiceError(.software, "cannot start: the limit on open files is too low; raise it")
    }
  }

  deinit { close(eventDescriptor) }

  /// Queues an action; the main thread runs actions in order.
  func add(_ action: @escaping @MainActor () -> Void) {
    waiting.withLock { $0.append(action) }
    eventfd_write(eventDescriptor, 1)
  }

  /// Runs the queued actions.
  @MainActor func run() {
    var count: eventfd_t = 0
    eventfd_read(eventDescriptor, &count)
    let actions = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for action in actions { action() }
  }
}
