extension Wire {
  /// A lifecycle message about an app.
  ///
  /// Signals may come twice, late or out of order: the phase is the same and no refresh is added.
  public enum LifecycleSignal: String, Codable, Hashable, Sendable, CaseIterable {
    /// The app has a process now.
    ///
    /// It is in the background until it says `foreground`.
    case launched
    /// The user looks at the app.
    case foreground
    /// The user no longer looks at the app.
    case background
    /// The user has ended the app; it is in the background.
    ///
    /// Pushes wait until it is `launched` again.
    case terminated
    /// The app may be refreshed (again).
    case login
    /// The app is not refreshed until `login`; a refresh that is running is stopped.
    case logout
  }

  /// Where an app is by its signals and leases.
  public enum Phase: String, Codable, Hashable, Sendable, CaseIterable {
    /// The user looks at it: the foreground interval holds.
    case foreground
    /// Nobody looks at it: the background interval holds.
    case background
    /// Logged out: nothing is refreshed until `login`.
    case loggedOut = "logged_out"
  }

  /// What the holder of a lease is told while it holds it.
  public struct Notice: Codable, Hashable, Sendable {
    /// What the notice is about.
    ///
    /// Pass over a kind that you do not know. `expiring`: the refresh is near its deadline and will be stopped there.
    public let kind: String
    /// The refresh, such as `12-345`: the daemon's start counter, the number of the refresh within it.
    public let refresh: String
    /// When the refresh is stopped, microseconds of the wall clock.
    public let deadlineMicroseconds: Int64

    /// Makes it of its parts.
    public init(kind: String, refresh: String, deadlineMicroseconds: Int64) {
      self.kind = kind
      self.refresh = refresh
      self.deadlineMicroseconds = deadlineMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case kind
      case refresh
      case deadlineMicroseconds = "deadline_us"
    }
  }
}
