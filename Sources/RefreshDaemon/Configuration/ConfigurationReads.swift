import RefreshConfig
import RefreshEngine
import Systemd

/// Bounded reads of the configuration: a silent folder keeps no caller waiting.
final class ConfigurationReads {
  /// How long a read may take; each file outside the folders, such as a program, has its own bound.
  static let patience = Duration.seconds(30)
  /// The most given-up reads at a time, because each keeps a thread; beyond it no other begins.
  private static let mostUnanswered = 2

  private let files: any ConfigurationFiles
  private let reads: BoundedReads

  init(_ core: DaemonCore, _ files: any ConfigurationFiles) {
    (self.files, reads) = (files, BoundedReads(core, patience: Self.patience))
  }

  func open() throws(SystemdError) { try reads.open() }

  /// Reads the configuration as ``ConfigurationFiles/read(then:)`` does, or answers that the disk is silent.
  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void) {
    ask({ self.files.read(then: $0) }, { [self] in answer(.failure(ConfigurationError(silence))) }, then: answer)
  }

  /// Answers with every mistake on disk, or with the single mistake that the disk is silent.
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
    guard reads.unanswered < Self.mostUnanswered else { return giveUp() }
    reads.read(begin, then: answer) { [files] in
      files.giveUp()
      giveUp()
    }
  }
}
