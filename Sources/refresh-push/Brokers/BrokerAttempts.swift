import Synchronization

/// The number of threads per client that are still resolving or connecting.
///
/// Both steps block, and the bridge abandons an unwanted attempt without waiting for its thread. This
/// count bounds such threads when push.toml is read repeatedly. The bound is above 1 so that a connection on a new
/// network need not wait for attempts on the old one.
enum BrokerAttempts {
  /// The most attempts of a client at a time.
  static let most = 4

  private static let counts = Mutex<[String: Int]>([:])

  /// Counts a new attempt of the client; false at the bound.
  static func begin(_ client: String) -> Bool {
    counts.withLock { counts in
      guard counts[client, default: 0] < most else { return false }
      counts[client, default: 0] += 1
      return true
    }
  }

  /// Counts the end of an attempt.
  static func end(_ client: String) {
    counts.withLock { counts in
      counts[client, default: 0] -= 1
      if counts[client] == 0 { counts[client] = nil }
    }
  }
}
