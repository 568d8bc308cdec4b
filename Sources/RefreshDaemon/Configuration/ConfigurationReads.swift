import RefreshConfig
import RefreshEngine
import Systemd

/// Reads of the configuration that end in time: a folder that does not answer keeps no caller waiting.
final class ConfigurationReads {
  /// How long a read may take; each file outside it, such as a program, has its own bound.
  static let patience = Duration.seconds(30)
  /// The most reads that are given up at a time, because each keeps a thread; no other begins then.
  private static let mostUnanswered = 2

  private unowned let core: DaemonCore
  private let files: any ConfigurationFiles
  private var waiting: [Int: (until: Instant, giveUp: () -> Void)] = [:]
  private var last = 0
  private var unanswered = 0
  private var timer: (any WakeTimer)?

  init(_ core: DaemonCore, _ files: any ConfigurationFiles) { (self.core, self.files) = (core, files) }

  func open() throws(SystemdError) {
    timer = try core.scheduler.timer { [unowned self] in giveUpOverdue() }
  }

  /// Reads the configuration as ``ConfigurationFiles/read(then:)`` does, or answers that the disk is silent.
  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void) {
    ask({ self.files.read(then: $0) }, { [self] in answer(.failure(ConfigurationError(silence))) }, then: answer)
  }

  /// Answers with every mistake on disk, or with the one that the disk is silent.
  func problems(then answer: @escaping ([Problem]) -> Void) {
    ask({ self.files.problems(then: $0) }, { [self] in answer([silence]) }, then: answer)
  }

  private var silence: Problem {
    Problem(
      file: files.directories.first ?? "the configuration",
      message: "cannot read the configuration: it has not answered for \(Self.patience.components.seconds) s",
      remedy: "see that the file systems of its folders and of the files that it names answer, then try again")
  }

  private func ask<Answer>(
    _ begin: (@escaping (Answer) -> Void) -> Void, _ giveUp: @escaping () -> Void,
    then answer: @escaping (Answer) -> Void
  ) {
    guard unanswered < Self.mostUnanswered else { return giveUp() }
    last += 1
    let number = last
    waiting[number] = (core.now + Self.patience, giveUp)
    begin { [unowned self] result in
      guard waiting.removeValue(forKey: number) != nil else {
        unanswered -= 1
        return
      }
      arm()
      answer(result)
    }
    arm()
  }

  private func giveUpOverdue() {
    let now = core.now
    for (number, read) in waiting.sorted(by: { $0.key < $1.key }) where read.until <= now {
      waiting[number] = nil
      unanswered += 1
      files.giveUp()
      read.giveUp()
    }
    arm()
  }

  private func arm() {
    guard let next = waiting.values.map(\.until).min() else {
      timer?.disarm()
      return
    }
    timer?.arm(at: next.microseconds, accuracy: 1000)
  }
}
