import CLinux
import Glibc
import Synchronization

/// A command of the bridge to a broker's thread.
enum BrokerCommand: Hashable, Sendable {
  /// The messages are stored or refused for good: acknowledge them.
  case stored
  /// The messages are not stored: do not acknowledge them.
  case notStored
  /// End the connection, after the acknowledgement of messages that were reported as stored. No later command counts.
  case stop
}

/// The mailbox through which the main thread sends commands to a broker's thread.
final class BrokerMailbox: Sendable {
  /// The waiting command, and whether the last one has come.
  private let command = Mutex<(waiting: BrokerCommand?, isToStop: Bool)>((nil, false))
  /// A descriptor that is readable while a command waits (eventfd(2)).
  let eventDescriptor: Int32

  /// Throws if the process is out of descriptors.
  init() throws(BrokerEnd) {
    eventDescriptor = linux_eventfd()
    guard eventDescriptor >= 0 else {
      throw .unreachable("cannot connect: \(String(cString: strerror(errno))); raise the limit on open files")
    }
  }

  deinit { close(eventDescriptor) }

  /// Posts a command; for the main thread.
  func post(_ posted: BrokerCommand) {
    command.withLock { command in
      guard !command.isToStop else { return }
      if posted == .stop { command.isToStop = true } else { command.waiting = posted }
    }
    eventfd_write(eventDescriptor, 1)
  }

  /// Removes and returns the waiting command; for the broker's thread.
  func consume() -> BrokerCommand? {
    var count: eventfd_t = 0
    eventfd_read(eventDescriptor, &count)
    return command.withLock { command in
      defer { command.waiting = nil }
      return command.waiting ?? (command.isToStop ? .stop : nil)
    }
  }
}
