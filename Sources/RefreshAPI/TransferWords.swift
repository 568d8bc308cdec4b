extension Wire {
  /// Which way a transfer moves its file.
  public enum Direction: String, Codable, Hashable, Sendable, CaseIterable {
    /// From the URL to the path.
    case download
    /// From the path to the URL.
    case upload
  }

  /// What a transfer asks of the network.
  public enum NetworkConstraint: String, Codable, Hashable, Sendable, CaseIterable {
    /// Nothing: it is for a server on this machine.
    case none
    /// One that reaches the internet.
    case any
    /// One that nobody pays for by the byte.
    case unmetered
    /// Wi-Fi that reaches the internet.
    case wifi
  }

  /// Where a transfer is.
  public enum TransferState: String, Codable, Hashable, Sendable, CaseIterable {
    /// It is tried as soon as its time has come and nothing holds it.
    case waiting
    /// A worker has it.
    case transferring
    /// A worker has it and was asked to stop.
    case stopping
    /// A person has paused it.
    case paused
    /// There is no room for it on the disk; it goes on when there is.
    case noSpace = "no_space"
    /// It is over; it is listed for a day after the app was told.
    case ended
  }

  /// How a transfer ended.
  public enum TransferResult: String, Codable, Hashable, Sendable, CaseIterable {
    /// The file is there, whole and checked.
    case done
    /// It cannot be done.
    case failed
    /// A person or the app has cancelled it.
    case cancelled
    /// It was tried for as long as the configuration has it.
    case expired
  }
}
