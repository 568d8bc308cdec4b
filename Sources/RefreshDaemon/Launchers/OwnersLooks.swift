import CLinux
import Glibc
import RefreshConfig
import RefreshEngine
import Synchronization
import Systemd
import Threads

/// Looks at paths on threads, one at a time for each user, and answers on the loop within a bound.
///
/// An overdue look is answered as unknown, and its thread is given up. When too many threads of a user hang, only that
/// user's next looks notice.
final class OwnersLooks<Look: Sendable> {
  typealias Work = @Sendable (TreeWalk.WalkBounds) -> Look

  /// The longest time that a look may take.
  static var longest: Duration { .seconds(10) }
  /// How many users' paths are looked at side by side; other users queue.
  private static var mostLanes: Int { 16 }
  /// How many threads of one user, or of all users, may hang before no further thread starts.
  private static var mostGivenUp: (ofUser: Int, ofAll: Int) { (2, 32) }

  /// The address space of a thread's stack; a walk needs a tenth of it.
  private static var stackBytes: Int { 256 * 1024 }

  private struct Question {
    let number: UInt64
    let path: String
    let owner: Owner
    /// When it is answered as unknown, boot clock, in microseconds.
    let end: Int64
    let work: Work
    let receive: (Look) -> Void

    /// How long after its bound a walk may itself report that its time is up.
    static var slack: Int64 { 100_000 }

    func isOverdue(at now: Int64) -> Bool { end + Self.slack <= now }
  }

  /// The questions of one user; an open lane looks at the first.
  private struct Lane {
    var questions: [Question] = []
    var isOpen = false
  }

  private let answers: LookAnswers<Look>
  private let unknown: (String) -> Look
  private var source: IOSource?
  private var timer: TimerSource?
  private var asked: UInt64 = 0
  private var lanes: [uid_t: Lane] = [:]
  /// The looks whose threads were given up and still hang.
  private var givenUp: [UInt64: Question] = [:]

  /// Makes looks that answer on the loop.
  ///
  /// `unknown` makes the answer for a look without one, from the reason.
  init(on loop: EventLoop, unknown: @escaping (String) -> Look) throws {
    self.unknown = unknown
    answers = try LookAnswers()
    source = try loop.watch(answers.descriptor, for: .readable) { [unowned self] _ in receiveAnswers() }
    timer = try loop.timer { [unowned self] in giveUpOverdue() }
  }

  deinit {
    source?.cancel()
    timer?.cancel()
  }

  /// The silent paths, each in a few words.
  var overdue: [String] {
    givenUp.values.sorted { $0.number < $1.number }.map { "\($0.path) of \($0.owner.name) does not answer" }
  }

  /// Looks at a path for its owner, and calls `receive` with the answer in a later turn of the loop.
  ///
  /// `bound` is the longest time until the answer, never longer than ``longest``. `work` looks at the path on a thread,
  /// unless no thread is free in time.
  func look(
    at path: String, as owner: Owner, within bound: Duration, by work: @escaping Work,
    receive: @escaping (Look) -> Void
  ) {
    asked += 1
    let end = EventLoop.bootMicroseconds() + min(bound, Self.longest).inMicroseconds
    let question = Question(number: asked, path: path, owner: owner, end: end, work: work, receive: receive)
    lanes[owner.uid, default: Lane()].questions.append(question)
    openLanes()
    arm()
  }

  /// Starts the first look of each lane without a running look.
  private func openLanes() {
    var open = lanes.values.count { $0.isOpen }
    let waiting = lanes.filter { !$0.value.isOpen }
      .sorted { $0.value.questions[0].number < $1.value.questions[0].number }
    for (user, lane) in waiting where open < Self.mostLanes {
      let question = lane.questions[0]
      guard !hangs(user) else { continue }
      let left = max(0, question.end - EventLoop.bootMicroseconds())
      let bounds = TreeWalk.WalkBounds(end: EventLoop.monotonicMicroseconds() + left)
      let (number, work, answers) = (question.number, question.work, answers)
      // A thread that hangs in the kernel can only be forgotten, so nothing may wait for it: it is detached.
      let code = DetachedThread.begin(stackBytes: Self.stackBytes) { answers.add(number, work(bounds)) }
      guard code == 0 else { continue }
      lanes[user]?.isOpen = true
      open += 1
    }
  }

  /// Whether too many threads of a user hang to start another.
  private func hangs(_ user: uid_t) -> Bool {
    givenUp.count >= Self.mostGivenUp.ofAll
      || givenUp.values.count { $0.owner.uid == user } >= Self.mostGivenUp.ofUser
  }

  private func receiveAnswers() {
    for (number, look) in answers.drain() {
      guard givenUp.removeValue(forKey: number) == nil else { continue }
      guard let (user, lane) = lanes.first(where: { $0.value.questions.first?.number == number }) else { continue }
      close(user, lane)?.receive(look)
    }
    openLanes()
    arm()
  }

  /// Takes the first question from a lane, and removes the lane if it was the last.
  private func close(_ user: uid_t, _ lane: Lane) -> Question? {
    var lane = lane
    let question = lane.questions.removeFirst()
    lane.isOpen = false
    lanes[user] = lane.questions.isEmpty ? nil : lane
    return question
  }

  /// Answers the overdue questions as unknown, and gives up the threads that hang over them.
  private func giveUpOverdue() {
    let now = EventLoop.bootMicroseconds()
    var late: [Question] = []
    for (user, var lane) in lanes where lane.questions.contains(where: { $0.isOverdue(at: now) }) {
      if lane.isOpen, lane.questions[0].isOverdue(at: now) {
        givenUp[lane.questions[0].number] = lane.questions[0]
        lane.isOpen = false
      }
      late += lane.questions.filter { $0.isOverdue(at: now) }
      lane.questions.removeAll { $0.isOverdue(at: now) }
      lanes[user] = lane.questions.isEmpty ? nil : lane
    }
    openLanes()
    arm()
    for question in late.sorted(by: { $0.number < $1.number }) {
      let others = givenUp.values.filter { $0.owner.uid == question.owner.uid && $0.path != question.path }
      let reason = others.first.map { "\($0.path), looked at before it, does not answer" }
      question.receive(unknown(reason ?? "it did not answer in time"))
    }
  }

  private func arm() {
    let end = lanes.values.flatMap(\.questions).map(\.end).min()
    if let end { timer?.arm(at: end + Question.slack, accuracy: 10_000) } else { timer?.disarm() }
  }
}

/// Answers on their way from the threads of looks to the loop.
final class LookAnswers<Look: Sendable>: Sendable {
  private let waiting = Mutex<[(number: UInt64, look: Look)]>([])
  /// Readable while answers wait.
  let descriptor: Int32

  init() throws(SystemCallError) {
    descriptor = linux_eventfd()
    guard descriptor >= 0 else { throw SystemCallError(attempt: "make an eventfd", code: errno) }
  }

  deinit { close(descriptor) }

  /// Passes on the answer to the look with a number; any thread may call this.
  func add(_ number: UInt64, _ look: Look) {
    waiting.withLock { $0.append((number, look)) }
    eventfd_write(descriptor, 1)
  }

  /// Takes all waiting answers.
  func drain() -> [(number: UInt64, look: Look)] {
    var count: eventfd_t = 0
    eventfd_read(descriptor, &count)
    return waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
  }
}

/// The reason why a look at a path has no answer.
struct NoLook: Error {
  let reason: String

  init(_ reason: String) { self.reason = reason }

  init(errno code: Int32) { reason = String(cString: strerror(code)) }
}

/// The way to a path, with the rights of the app's owner.
enum OwnersPath {
  /// How many symbolic links may lead to a path, as in path_resolution(7).
  private static let mostLinks = 40

  /// A directory on the way.
  struct PathStep {
    let directory: OpenEntry
    /// The name that is looked up in it.
    let name: String
    /// Whether another entry of that name would lead elsewhere: it is a symbolic link, or does not exist.
    let isLoose: Bool
  }

  /// Opens a path one name after the other, each with the owner's rights; nil if it does not exist.
  ///
  /// Every name is looked up in an open directory, so that a path which is swapped meanwhile cannot bypass the modes.
  ///
  /// Calls `visit` with each directory in which a name is looked up. Throws if the owner may not search a directory, if
  /// too many symbolic links follow each other, or if the system cannot open a name.
  static func open(
    _ path: String, _ view: OwnersView, visit: (PathStep) -> Void = { _ in }
  ) throws(NoLook) -> OpenEntry? {
    let root = OpenEntry("/", in: AT_FDCWD, OpenEntry.place)
    guard let root else { throw NoLook(errno: errno) }
    var place = root
    var names = Array(path.split(separator: "/").reversed())
    var links = 0
    while let name = names.popLast() {
      guard place.kind == S_IFDIR else { return nil }
      guard view.maySearch(place.status) else {
        throw NoLook("the modes of a directory on the way to it keep its owner out")
      }
      guard let next = OpenEntry(String(name), in: place.descriptor, OpenEntry.place | O_NOFOLLOW) else {
        let code = errno
        visit(PathStep(directory: place, name: String(name), isLoose: true))
        guard code == ENOENT || code == ENOTDIR else { throw NoLook(errno: code) }
        return nil
      }
      visit(PathStep(directory: place, name: String(name), isLoose: next.kind != S_IFDIR))
      guard next.kind == S_IFLNK else {
        place = next
        continue
      }
      links += 1
      guard links <= mostLinks, let target = next.linkTarget else {
        throw NoLook("the symbolic links that lead to it have no end")
      }
      if target.hasPrefix("/") { place = root }
      names += target.split(separator: "/").reversed()
    }
    return place
  }
}

/// The rights of an app's owner on the files of the machine, by their modes.
///
/// The daemon may read every file, so it checks the owner's rights itself: otherwise `new_data` would show the owner when
/// another user's file changed. The kernel cannot check, because the unit may not change its user. Access control lists do
/// not count.
final class OwnersView {
  private let owner: Owner
  /// Whether the kernel decides: the daemon runs as the owner, or the owner is root.
  private let mayAll: Bool

  init(of owner: Owner) {
    self.owner = owner
    mayAll = owner.uid == 0 || owner.uid == geteuid()
  }

  /// Whether the owner may list the names of a directory.
  func mayList(_ directory: stat) -> Bool { may(4, directory) }

  /// Whether the owner may look at the entries of a directory.
  func maySearch(_ directory: stat) -> Bool { may(1, directory) }

  private func may(_ bit: mode_t, _ status: stat) -> Bool {
    if mayAll { return true }
    if status.st_uid == owner.uid { return status.st_mode >> 6 & bit != 0 }
    let (group, others) = (status.st_mode >> 3 & bit != 0, status.st_mode & bit != 0)
    if group == others { return group }
    return (status.st_gid == owner.gid || owner.groups?.contains(status.st_gid) == true) ? group : others
  }
}
