import RefreshConfig
import RefreshStore

/// Reads the configuration on a thread of its own, so that the loop does not wait for a disk.
actor ConfigurationReader {
  nonisolated let sources: ConfigurationSources
  private let reader: Reader
  private nonisolated let executor: ThreadExecutor

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(sources: ConfigurationSources, reader: Reader, executor: ThreadExecutor) {
    self.sources = sources
    self.reader = reader
    self.executor = executor
  }

  /// Reads all of it, or says every mistake.
  func read() throws(ConfigurationError) -> Configuration {
    try Configuration.load(from: sources, as: reader)
  }

  /// Every mistake on disk, those of the bridge's file among them, which is not the daemon's to put in force.
  func problems() -> [Problem] { Configuration.problems(in: sources, as: reader) }
}
