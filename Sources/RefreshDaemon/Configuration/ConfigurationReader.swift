import RefreshConfig
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
