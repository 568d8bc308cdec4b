import Glibc
import RefreshConfig
import RefreshEngine
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
