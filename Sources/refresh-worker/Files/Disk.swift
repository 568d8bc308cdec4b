import CLinux
import Glibc
import Synchronization

/// A thread for what waits for the disk, so that the network never does.
///
/// Errands that came in while it was busy are done together: many files are made durable at once, and each folder is once.
final class Disk: @unchecked Sendable {
  // @unchecked: `shared` is behind a lock; `answers` belongs to the thread that the rest of the process runs on.

  /// What is to be done; the descriptors stay open until it is answered.
  enum Errand: Sendable {
    /// Makes what was written durable.
    case keep(descriptor: Int32, path: String)
    /// Checks a whole file.
    case check(descriptor: Int32, length: Int64, digest: String, path: String)
    /// Makes a whole file durable, and then its name; it takes the place of what is there in one step.
    case place(Placement)
  }

  /// A whole file that is to take the place of its target.
  struct Placement: Sendable {
    let descriptor: Int32
    let folder: Int32
    /// The name of the target; nil if the file has it already.
    let name: String?
    let path: String
    let length: Int64
    /// The SHA-256 that it is to have, 64 hex digits in lower case; nil if it is not to be checked (any more).
    let digest: String?
  }

  private struct Shared {
    var errands: [(number: Int, errand: Errand)] = []
    var results: [(number: Int, trouble: Trouble?)] = []
  }

  private let shared = Mutex(Shared())
  private let work: Int32
  /// Readable when there are answers for ``takeAnswers()``.
  let bell: Int32
  private var answers: [Int: (Trouble?) -> Void] = [:]
  private var lastNumber = 0

  /// Throws when the process has no descriptor or no thread left.
  init() throws(Trouble) {
    work = linux_eventfd()
    bell = linux_eventfd()
    var thread = pthread_t()
    let retained = Unmanaged.passRetained(self)
    guard work >= 0, bell >= 0,
      pthread_create(
        &thread, nil,
        { context in
          guard let context else { return nil }
          Unmanaged<Disk>.fromOpaque(context).takeUnretainedValue().run()
        }, retained.toOpaque()) == 0
    else { throw Trouble(.retry(after: nil), "cannot start a thread: raise the limits on processes and open files") }
    pthread_detach(thread)
  }

  /// Has it done; the answer is nil if it went well.
  func run(_ errand: Errand, then answer: @escaping (Trouble?) -> Void) {
    lastNumber += 1
    answers[lastNumber] = answer
    shared.withLock { [lastNumber] in $0.errands.append((lastNumber, errand)) }
    Self.ring(work)
  }

  /// Tells what has been done since it was last asked.
  func takeAnswers() {
    Self.quiet(bell)
    let results = shared.withLock { shared in
      defer { shared.results = [] }
      return shared.results
    }
    for result in results { answers.removeValue(forKey: result.number)?(result.trouble) }
  }

  // MARK: On its own thread

  private func run() -> Never {
    while true {
      var set = pollfd(fd: work, events: Int16(POLLIN), revents: 0)
      poll(&set, 1, -1)
      Self.quiet(work)
      let errands = shared.withLock { shared in
        defer { shared.errands = [] }
        return shared.errands
      }
      let results = Self.do(errands)
      shared.withLock { $0.results += results }
      Self.ring(bell)
    }
  }

  private static func `do`(_ errands: [(number: Int, errand: Errand)]) -> [(number: Int, trouble: Trouble?)] {
    let areTogether = writeTogether(errands)
    var results: [(number: Int, trouble: Trouble?)] = []
    var placed: [(number: Int, placement: Placement)] = []
    for (number, errand) in errands {
      do throws(Trouble) {
        switch errand {
        case .keep(let descriptor, let path):
          guard fdatasync(descriptor) == 0 else { throw Trouble(errno: errno, "write", path) }
          results.append((number, nil))
        case .check(let descriptor, let length, let digest, let path):
          try check(descriptor, length, digest, path)
          results.append((number, nil))
        case .place(let placement):
          try place(placement, isDurable: areTogether)
          placed.append((number, placement))
        }
      } catch {
        results.append((number, error))
      }
    }
    for (folder, members) in Dictionary(grouping: placed, by: \.placement.folder) {
      let code = FolderNames.makeDurable(in: folder)
      for (number, placement) in members {
        results.append((number, code.map { Trouble(errno: $0, "make durable", placement.path) }))
      }
    }
    return results
  }

  /// Has the file system write all that it has, once, if that is less than to wait for one file after the other.
  ///
  /// Not if they are on several.
  private static func writeTogether(_ errands: [(number: Int, errand: Errand)]) -> Bool {
    var device: dev_t?
    var count = 0
    for case (_, .place(let placement)) in errands {
      var status = stat()
      guard fstat(placement.descriptor, &status) == 0, device ?? status.st_dev == status.st_dev else { return false }
      device = status.st_dev
      count += 1
    }
    for case (_, .place(let placement)) in errands where count >= fewest {
      return linux_sync_file_system(placement.descriptor) == 0
    }
    return false
  }

  /// So many files are written with one syncfs(2): two flushes of the disk's cache for all instead of one for each.
  private static let fewest = 4

  private static func place(_ placement: Placement, isDurable: Bool) throws(Trouble) {
    if let digest = placement.digest {
      try check(placement.descriptor, placement.length, digest, placement.path)
    }
    guard isDurable || fsync(placement.descriptor) == 0 else { throw Trouble(errno: errno, "write", placement.path) }
    guard let name = placement.name else { return }
    try PartFile.takePlace(placement.descriptor, in: placement.folder, as: name, path: placement.path)
  }

  private static func check(
    _ descriptor: Int32, _ length: Int64, _ digest: String, _ path: String
  ) throws(Trouble) {
    guard try SHA256.digest(of: descriptor, length: length, path: path) == digest else { throw .otherDigest(path) }
  }

  private static func ring(_ bell: Int32) {
    var one: UInt64 = 1
    write(bell, &one, MemoryLayout.size(ofValue: one))
  }

  private static func quiet(_ bell: Int32) {
    var count: UInt64 = 0
    read(bell, &count, MemoryLayout.size(ofValue: count))
  }
}

extension Trouble {
  /// The bytes are not those that the app wants.
  static func otherDigest(_ path: String) -> Trouble {
    Trouble(.failed, "cannot accept \(path): its SHA-256 is another than the one that was given")
  }
}
