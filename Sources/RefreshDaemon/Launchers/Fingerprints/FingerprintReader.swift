import CLinux
import Glibc
import RefreshStore
import Synchronization
import Systemd

/// Reads directories, one after the other, on a thread that exists only while there is work.
@globalActor actor DirectoryReading {
  static let shared = DirectoryReading()
  private let executor = ThreadExecutor(name: "refreshd-look")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// Takes fingerprints on another thread and returns them on the loop.
final class FingerprintReader {
  private struct Answer {
    let number: UInt64
    let fingerprint: Fingerprint
  }

  /// The answers on their way from the thread to the loop.
  private final class Answers: Sendable {
    let waiting = Mutex<[Answer]>([])
    let descriptor: Int32

    init() throws(SystemCallError) {
      descriptor = linux_eventfd()
      guard descriptor >= 0 else { throw SystemCallError(attempt: "make an eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    func add(_ answer: Answer) {
      waiting.withLock { $0.append(answer) }
      eventfd_write(descriptor, 1)
    }

    func drain() -> [Answer] {
      var count: eventfd_t = 0
      eventfd_read(descriptor, &count)
      return waiting.withLock { waiting in
        defer { waiting = [] }
        return waiting
      }
    }
  }

  private let answers: Answers
  private var source: IOSource?
  private var asked: UInt64 = 0
  private var receivers: [UInt64: (Fingerprint) -> Void] = [:]

  /// Makes a reader that answers on the loop.
  init(on loop: EventLoop) throws {
    let answers = try Answers()
    self.answers = answers
    source = try loop.watch(answers.descriptor, for: .readable) { [unowned self] _ in
      for answer in answers.drain() {
        receivers.removeValue(forKey: answer.number)?(answer.fingerprint)
      }
    }
  }

  deinit { source?.cancel() }

  /// Takes the fingerprint of a path, and calls `receive` with it in a later turn of the loop.
  func look(at path: String, receive: @escaping (Fingerprint) -> Void) {
    asked += 1
    receivers[asked] = receive
    Task { @DirectoryReading [answers, asked] in
      answers.add(Answer(number: asked, fingerprint: Fingerprint(of: path)))
    }
  }
}
