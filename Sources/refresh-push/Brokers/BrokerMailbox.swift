import CLinux
import Glibc
import Synchronization

/// What the bridge's own thread says to the thread of a broker.
final class BrokerMailbox: Sendable {
  enum Word: Hashable, Sendable {
    /// What was handed over is stored, or refused for ever: acknowledge it.
    case stored
    /// It is not stored: do not acknowledge it.
    case notStored
    /// The connection is no longer wanted. It stays the last word.
    case stop
  }

  private let word = Mutex<Word?>(nil)
  /// Readable when there is a word: eventfd(2).
  let bell: Int32

  /// Throws when the process has no descriptor left.
  init() throws(BrokerEnd) {
    bell = linux_eventfd()
    guard bell >= 0 else {
      throw .unreachable("cannot connect: \(String(cString: strerror(errno))); raise the limit on open files")
    }
  }

  deinit { close(bell) }

  /// Says a word; for the bridge's own thread.
  func say(_ said: Word) {
    word.withLock { if $0 != .stop { $0 = said } }
    var one: UInt64 = 1
    _ = Glibc.write(bell, &one, MemoryLayout.size(ofValue: one))
  }

  /// The word that was said since this was last called; for the broker's thread.
  func take() -> Word? {
    var count: UInt64 = 0
    _ = Glibc.read(bell, &count, MemoryLayout.size(ofValue: count))
    return word.withLock { word in
      defer { if word != .stop { word = nil } }
      return word
    }
  }
}
