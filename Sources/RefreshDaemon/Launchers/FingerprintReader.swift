import CLinux
import Glibc
import RefreshStore
import Synchronization
import Systemd

/// Where directories are read, one after the other; its thread lives only while there are some.
@globalActor actor DirectoryReading {
  static let shared = DirectoryReading()
  private let executor = ThreadExecutor(name: "refreshd-look")
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

/// Takes fingerprints away from the loop, and brings them back to it.
final class FingerprintReader {
  private struct Answer {
    let number: UInt64
    let print: Fingerprint
  }

  /// What the thread puts and the loop takes.
  private final class Answers: Sendable {
    let waiting = Mutex<[Answer]>([])
    let descriptor: Int32

    init() throws(SystemCallError) {
      descriptor = linux_eventfd()
      guard descriptor >= 0 else { throw SystemCallError(attempt: "make an eventfd", code: errno) }
    }

    deinit { close(descriptor) }

    func put(_ answer: Answer) {
      waiting.withLock { $0.append(answer) }
      eventfd_write(descriptor, 1)
    }

    func take() -> [Answer] {
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

  /// Makes a reader whose answers come on the loop.
  init(on loop: EventLoop) throws {
    let answers = try Answers()
    self.answers = answers
    source = try loop.watch(answers.descriptor, for: .readable) { [unowned self] _ in
      for answer in answers.take() {
        receivers.removeValue(forKey: answer.number)?(answer.print)
      }
    }
  }

  deinit { source?.cancel() }

  /// Looks at a path and calls `receive` with its print, in a later turn of the loop.
  func look(at path: String, receive: @escaping (Fingerprint) -> Void) {
    asked += 1
    receivers[asked] = receive
    Task { @DirectoryReading [answers, asked] in
      answers.put(Answer(number: asked, print: Fingerprint(of: path)))
    }
  }
}
