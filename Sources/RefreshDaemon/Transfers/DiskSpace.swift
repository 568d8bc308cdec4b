import Glibc
import RefreshEngine
import Systemd
import Threads

/// Reads the free space of disks on its own thread, so that the loop does not wait for a disk.
actor DiskSpaceReader {
  private nonisolated let executor = ThreadExecutor(name: "refreshd-space")

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// The transfers that fit into a folder, by the bytes that each needs.
  ///
  /// If the space cannot be read, all fit: the worker sees more than the daemon, and its error says more than waiting.
  func fitting(_ needs: [TransferID: Int64], in folder: String) -> [TransferID] {
    var space = statvfs()
    guard statvfs(folder, &space) == 0 else { return needs.keys.sorted() }
    let block = Double(space.f_frsize)
    return RoomCheck.roomy(
      needs, available: Double(space.f_bavail) * block, size: Double(space.f_blocks) * block)
  }
}

/// Resumes transfers that wait for space on a disk.
final class DiskSpaceWatch {
  /// Answers which transfers fit into a folder, by the bytes that each needs.
  typealias Question = (_ needs: [TransferID: Int64], _ folder: String, _ then: @escaping ([TransferID]) -> Void) ->
    Void

  /// How long an answer may take before another thread asks about the next folder.
  private static let patience = Duration.seconds(2)
  /// The most given-up questions at a time, in all and for one file system, because each keeps a thread.
  private static let mostUnanswered = 16
  private static let mostUnansweredOfMount = 2

  private unowned let core: DaemonCore
  private let reads: BoundedReads
  private let makeQuestion: () -> Question
  private var question: Question?
  private var check = RoomCheck()
  private var timer: (any WakeTimer)?
  private var isLooking = false
  /// How many given-up questions about each file system, by its mount point, have no answer yet.
  private var unanswered: [String: Int] = [:]
  private unowned let runner: TransferRunner

  init(_ core: DaemonCore, _ makeQuestion: @escaping () -> Question, for runner: TransferRunner) {
    (self.core, self.makeQuestion, self.runner) = (core, makeQuestion, runner)
    reads = BoundedReads(core, patience: Self.patience)
  }

  /// Makes the timer, and begins with the transfers that waited at the end of the earlier daemon.
  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in look() }
    try reads.open()
    for id in core.engine.transferIDs {
      if let stage = core.engine.transferState(of: id)?.stage { note(id, stage) }
    }
  }

  /// Updates whether a transfer waits for space; the stage is nil when the transfer is gone.
  func note(_ id: TransferID, _ stage: TransferState.Stage?) {
    if case .noSpace(let needed) = stage, let path = runner[id]?.request.path {
      check.add(id, path: path, needed: needed, at: core.now)
      arm()
    } else {
      check.remove(id)
    }
  }

  private func arm() {
    if let wake = check.wake { timer?.arm(at: wake.microseconds, accuracy: 1_000_000) }
  }

  /// Asks for the space for waiting transfers, folder by folder.
  ///
  /// A dead mount may never answer. Its question keeps its thread, and another thread asks about the next folder.
  private func look() {
    let looks = check.begin(at: core.now)
    guard check.wake != nil else { return }
    arm()
    // Silent folders can make a round longer than the interval.
    guard !isLooking else { return }
    isLooking = true
    ask(looks[...], mounts: MountPoints.current())
  }

  private func ask(_ looks: ArraySlice<RoomCheck.Look>, mounts: MountPoints) {
    let next = looks.first { look in
      unanswered[mounts.point(of: look.folder)] ?? 0 < Self.mostUnansweredOfMount && check.claim(look.folder)
    }
    guard reads.unanswered < Self.mostUnanswered, let look = next else {
      if let next { check.end(next.folder) }
      isLooking = false
      return
    }
    let rest = looks.drop { $0 != look }.dropFirst()
    let mount = mounts.point(of: look.folder)
    let question = question ?? makeQuestion()
    self.question = question
    var isGivenUp = false
    reads.read({ answer in
      question(look.needs, look.folder) { fitting in
        self.check.end(look.folder)
        if isGivenUp { self.unanswered[mount, default: 1] -= 1 }
        answer(fitting)
      }
    }) { fitting in
      for id in fitting { self.core.handle(.roomFound(id)) }
      self.ask(rest, mounts: mounts)
    } giveUp: {
      isGivenUp = true
      self.unanswered[mount, default: 0] += 1
      self.question = nil
      self.ask(rest, mounts: mounts)
    }
  }
}

/// The mounted file systems, which tell folders of different disks apart without reading a disk.
struct MountPoints {
  /// The mount points; each path ends with a slash.
  private let points: [String]

  /// The file systems in this process's present view.
  static func current() -> MountPoints { MountPoints(SmallFiles.text(of: "/proc/self/mountinfo") ?? "") }

  /// Reads the table of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
  init(_ table: String) {
    points = table.split(separator: "\n").compactMap { line in
      let fields = line.split(separator: " ", maxSplits: 5)
      guard fields.count > 4 else { return nil }
      let path = Self.unescaped(fields[4])
      return path.hasSuffix("/") ? path : path + "/"
    }
  }

  /// The mount point of the file system of a folder, by its path alone.
  func point(of folder: String) -> String {
    let folder = folder + "/"
    return points.filter { folder.hasPrefix($0) }.max { $0.utf8.count < $1.utf8.count } ?? "/"
  }

  /// Decodes a path: the kernel writes a space, a tab, a line break and a backslash as three octal digits.
  static func unescaped(_ text: Substring) -> String {
    var (bytes, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(3), as: UTF8.self)
      if byte == UInt8(ascii: "\\"), digits.utf8.count == 3, let escaped = UInt8(digits, radix: 8) {
        bytes.append(escaped)
        rest.removeFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
