import Synchronization

/// How many threads of each client still look its broker up or connect to it.
///
/// libmosquitto does both blocking, and nobody waits for an attempt that is no longer wanted; with this their number has
/// a bound where push.toml is read again and again meanwhile. It is more than one because a new network is not to wait
/// for the attempts on the old one.
enum BrokerAttempts {
  /// So many of a client may be at it at once.
  static let most = 4

  private static let counts = Mutex<[String: Int]>([:])

  /// Counts one more of the client; false if there are enough.
  static func begin(_ client: String) -> Bool {
    counts.withLock { counts in
      guard counts[client, default: 0] < most else { return false }
      counts[client, default: 0] += 1
      return true
    }
  }

  /// One of the client is connected, or could not be.
  static func end(_ client: String) {
    counts.withLock { counts in
      counts[client, default: 0] -= 1
      if counts[client] == 0 { counts[client] = nil }
    }
  }
}
