import Glibc
import Synchronization

/// Writes lines to a terminal, a file or a pipe, without waiting for a reader that has stopped.
///
/// A pipe whose reader has stopped is full after 64 KiB, and then a write blocks. This class waits ``patience`` for a slow
/// reader. Then it keeps lines until the reader reads again. It drops and counts lines beyond the bound, and a later line
/// reports their number.
final class TextOutput: Sendable {
  /// The most bytes that are kept while the reader has stopped.
  static let keptBytes = 1 << 20
  /// The longest wait of a write for the reader, in milliseconds; later writes do not wait until it reads again.
  static let patience: Int32 = 20
  /// The bytes that a writable pipe accepts at once (PIPE_BUF in pipe(7)).
  private static let portion = 4096

  private struct State {
    var kept: [UInt8] = []
    var dropped = 0
    var hasStopped = false
  }

  private let descriptor: Int32
  /// The descriptor that this object opened and closes at its end; nil if it uses the caller's.
  private let own: Int32?
  private let state = Mutex(State())

  /// Makes an output for a descriptor, which the caller still owns.
  init(descriptor: Int32) {
    own = Self.openTerminal(descriptor)
    self.descriptor = own ?? descriptor
  }

  deinit { if let own { close(own) } }

  /// Opens the terminal of a descriptor again, without blocking; nil for no terminal, or if it may not be opened.
  ///
  /// A terminal is ready as soon as it has room for one byte, and a longer write would block. The descriptor itself stays
  /// unchanged, because a shell may share it.
  private static func openTerminal(_ descriptor: Int32) -> Int32? {
    guard isatty(descriptor) == 1 else { return nil }
    let opened = open("/proc/self/fd/\(descriptor)", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
    return opened < 0 ? nil : opened
  }

  /// Writes a line with its end, keeps it, or drops and counts it.
  func write(_ line: String) {
    state.withLock { state in
      flush(&state)
      if state.dropped == 0, state.kept.count + line.utf8.count <= Self.keptBytes {
        state.kept += line.utf8
      } else {
        state.dropped += 1
      }
      flush(&state)
    }
  }

  private func flush(_ state: inout State) {
    drain(&state)
    guard state.kept.isEmpty, state.dropped > 0 else { return }
    state.kept += "warning: \(state.dropped) lines are missing here: nobody read them in time\n".utf8
    state.dropped = 0
    drain(&state)
  }

  private func drain(_ state: inout State) {
    var sent = 0
    while sent < state.kept.count, isReady(&state) {
      let part = state.kept[sent...].prefix(Self.portion)
      let count = part.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0, errno == EAGAIN {
        state.hasStopped = true
        break
      }
      // There is no other place to report an error.
      sent = count > 0 ? sent + count : state.kept.count
    }
    state.kept.removeFirst(sent)
  }

  /// Whether a write would not block, or would fail at once.
  private func isReady(_ state: inout State) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    state.hasStopped = poll(&watched, 1, state.hasStopped ? 0 : Self.patience) == 0
    return !state.hasStopped
  }
}
