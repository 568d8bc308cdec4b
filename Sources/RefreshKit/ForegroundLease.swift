import Synchronization

/// The word that the user looks at the app, as long as it is held.
///
/// Ends with ``end()``, with its last reference, and with the process, however that ends.
public final class ForegroundLease: Sendable {
  private let client: Mutex<RefreshClient?>

  /// Holds nothing if the client is nil.
  init(of client: RefreshClient?) {
    self.client = Mutex(client)
  }

  deinit { end() }

  /// The user looks elsewhere; a second time nothing happens.
  public func end() {
    let held = client.withLock { client in
      defer { client = nil }
      return client
    }
    guard let held else { return }
    Task { await held.leaveForeground() }
  }
}
