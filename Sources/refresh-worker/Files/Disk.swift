import CLinux
import Glibc
import Synchronization
import Threads

/// A thread for system calls that wait for the disk, so that they never delay the network.
///
/// The thread does waiting jobs as one batch: it makes several files durable at once, and each folder once.
final class Disk: @unchecked Sendable {
  // @unchecked: `shared` is behind a lock; only the main thread uses `handlers`.

  /// A job; the caller keeps the descriptors open until the result.
  enum Job: Sendable {
    /// Makes the written bytes durable.
    case sync(descriptor: Int32, path: String)
    /// Compares the digest of a whole file.
    case check(descriptor: Int32, length: Int64, digest: String, path: String)
    /// Makes a whole file durable and renames it to its target in one step.
    case replace(Replacement)
  }

  /// A whole file that replaces its target.
  struct Replacement: Sendable {
    let descriptor: Int32
    let folder: Int32
    /// The name of the target; nil if the file already has that name.
    let name: String?
    let path: String
    let length: Int64
    /// The expected SHA-256, 64 hex digits in lower case; nil if no check is needed.
    let digest: String?
  }

  private struct Shared {
    var jobs: [(number: Int, job: Job)] = []
    var results: [(number: Int, failure: TaskFailure?)] = []
  }

  private let shared = Mutex(Shared())
  private let work: Int32
  /// Readable when ``deliverResults()`` has results to deliver.
  let readyDescriptor: Int32
  private var handlers: [Int: (TaskFailure?) -> Void] = [:]
  private var lastNumber = 0

  /// Starts the thread; throws when the process has no descriptor or no thread left.
  init() throws(TaskFailure) {
    work = linux_eventfd()
    readyDescriptor = linux_eventfd()
    guard work >= 0, readyDescriptor >= 0, DetachedThread.begin({ [self] in run() }) == 0 else {
      for descriptor in [work, readyDescriptor] where descriptor >= 0 { close(descriptor) }
      throw TaskFailure(.retry(after: nil), "cannot start a thread: raise the limits on processes and open files")
    }
  }

  /// Queues a job; the handler gets its failure, or nil.
  func run(_ job: Job, then handler: @escaping (TaskFailure?) -> Void) {
    lastNumber += 1
    handlers[lastNumber] = handler
    shared.withLock { [lastNumber] in $0.jobs.append((lastNumber, job)) }
    eventfd_write(work, 1)
  }

  /// Calls the handlers of the jobs that are done.
  func deliverResults() {
    Self.clear(readyDescriptor)
    let results = shared.withLock { shared in
      defer { shared.results = [] }
      return shared.results
    }
    for result in results { handlers.removeValue(forKey: result.number)?(result.failure) }
  }

  // MARK: On the disk's thread

  private func run() -> Never {
    while true {
      var set = pollfd(fd: work, events: Int16(POLLIN), revents: 0)
      poll(&set, 1, -1)
      Self.clear(work)
      let jobs = shared.withLock { shared in
        defer { shared.jobs = [] }
        return shared.jobs
      }
      let results = Self.do(jobs)
      shared.withLock { $0.results += results }
      eventfd_write(readyDescriptor, 1)
    }
  }

  private static func `do`(_ jobs: [(number: Int, job: Job)]) -> [(number: Int, failure: TaskFailure?)] {
    let areTogether = writeTogether(jobs)
    var results: [(number: Int, failure: TaskFailure?)] = []
    var completed: [(number: Int, replacement: Replacement)] = []
    for (number, job) in jobs {
      do throws(TaskFailure) {
        switch job {
        case .sync(let descriptor, let path):
          guard fdatasync(descriptor) == 0 else { throw TaskFailure(errno: errno, "write", path) }
          results.append((number, nil))
        case .check(let descriptor, let length, let digest, let path):
          try check(descriptor, length, digest, path)
          results.append((number, nil))
        case .replace(let replacement):
          try replace(replacement, isDurable: areTogether)
          completed.append((number, replacement))
        }
      } catch {
        results.append((number, error))
      }
    }
    for (folder, members) in Dictionary(grouping: completed, by: \.replacement.folder) {
      let code = FolderNames.makeDurable(in: folder)
      for (number, replacement) in members {
        results.append((number, code.map { TaskFailure(errno: $0, "make durable", replacement.path) }))
      }
    }
    return results
  }

  /// Calls syncfs(2) once for several replacements on one file system; returns whether it did.
  private static func writeTogether(_ jobs: [(number: Int, job: Job)]) -> Bool {
    var device: dev_t?
    var count = 0
    for case (_, .replace(let replacement)) in jobs {
      var status = stat()
      guard fstat(replacement.descriptor, &status) == 0, device ?? status.st_dev == status.st_dev else { return false }
      device = status.st_dev
      count += 1
    }
    for case (_, .replace(let replacement)) in jobs where count >= fewest {
      return linux_sync_file_system(replacement.descriptor) == 0
    }
    return false
  }

  /// The fewest files for one syncfs(2), which flushes the disk's cache twice for all instead of once for each.
  private static let fewest = 4

  private static func replace(_ replacement: Replacement, isDurable: Bool) throws(TaskFailure) {
    if let digest = replacement.digest {
      try check(replacement.descriptor, replacement.length, digest, replacement.path)
    }
    guard isDurable || fsync(replacement.descriptor) == 0 else {
      throw TaskFailure(errno: errno, "write", replacement.path)
    }
    guard let name = replacement.name else { return }
    try PartFile.replaceTarget(
      .resumable, replacement.descriptor, in: replacement.folder, as: name, path: replacement.path)
  }

  private static func check(
    _ descriptor: Int32, _ length: Int64, _ digest: String, _ path: String
  ) throws(TaskFailure) {
    guard try SHA256.digest(of: descriptor, length: length, path: path) == digest else { throw .otherDigest(path) }
  }

  private static func clear(_ event: Int32) {
    var count: eventfd_t = 0
    eventfd_read(event, &count)
  }
}

extension TaskFailure {
  /// The failure of a file whose digest differs from the app's.
  static func otherDigest(_ path: String) -> TaskFailure {
    TaskFailure(.wrong, "cannot accept \(path): its SHA-256 differs from the given one")
  }
}
