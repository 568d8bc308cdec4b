import RefreshConfig
import RefreshEngine
import Systemd
import Threads

/// Reads the configuration on its own thread, so that the loop does not wait for a disk.
final class ConfigurationReader: ConfigurationFiles {
  private let sources: ConfigurationSources
  private let reader: Reader
  private var worker: Worker
  private let tasks: LoopTasks

  var directories: [String] { sources.directories }

  init(sources: ConfigurationSources, reader: Reader, tasks: LoopTasks) {
    (self.sources, self.reader, self.tasks) = (sources, reader, tasks)
    worker = Worker(sources: sources, reader: reader)
  }

  func read(then answer: @escaping (Result<Configuration, ConfigurationError>) -> Void) {
    tasks.run({ [worker] _ in await worker.read() }, then: answer)
  }

  func problems(then answer: @escaping ([Problem]) -> Void) {
    tasks.run({ [worker] _ in await worker.problems() }, then: answer)
  }

  func giveUp() { worker = Worker(sources: sources, reader: reader) }

  private actor Worker {
    private let sources: ConfigurationSources
    private let reader: Reader
    /// The stack of a main thread: toml++ recurses one level for each dot of a key.
    private nonisolated let executor = ThreadExecutor(name: "configuration", stackBytes: 8 << 20)

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(sources: ConfigurationSources, reader: Reader) { (self.sources, self.reader) = (sources, reader) }

    func read() -> Result<Configuration, ConfigurationError> {
      Result { () throws(ConfigurationError) in try Configuration.loadAtStart(from: sources, as: reader) }
    }

    func problems() -> [Problem] { Configuration.problems(in: sources, as: reader) }
  }
}

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
      remedy: "check that the file systems of its folders and of the files in it answer, then try again")
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
