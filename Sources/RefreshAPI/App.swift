extension Wire {
  /// What the daemon thinks of an app right now.
  public enum Verdict: String, Codable, Hashable, Sendable, CaseIterable {
    /// It is being refreshed.
    case refreshing
    /// It starts as soon as there is a place for it.
    case ready
    /// Its next refresh is not due yet.
    case notDue = "not_due"
    /// Something keeps it from being refreshed: its holds.
    case held
  }

  /// What keeps a refresh from starting.
  public struct Hold: Codable, Hashable, Sendable {
    /// Its name: `logged-out`, `disabled`, `paused`, `never` (the interval of the phase), `quiet`, `network`, `power`,
    /// `idle`, `calm`, `power-saver`, `settling`, `suspending`, `app` (none of its processes is attached),
    /// `concurrency`, `stopping` (the daemon).
    ///
    /// Others may be added.
    public let name: String
    /// What would lift it: a command, or a sentence.
    public let remedy: String
    /// When it ends by itself, microseconds of the wall clock; absent when nobody knows.
    public let untilMicroseconds: Int64?

    /// Makes it of its parts.
    public init(name: String, remedy: String, untilMicroseconds: Int64? = nil) {
      self.name = name
      self.remedy = remedy
      self.untilMicroseconds = untilMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case name
      case remedy
      case untilMicroseconds = "until_us"
    }
  }

  /// The end of the last refresh, in short.
  public struct LastRefresh: Codable, Hashable, Sendable {
    /// The outcome.
    public let outcome: Outcome
    /// The cause of a failure in words; with `failed` only.
    public let cause: String?
    /// When it ended, microseconds of the wall clock.
    public let endedMicroseconds: Int64

    /// Makes it of its parts.
    public init(outcome: Outcome, cause: String? = nil, endedMicroseconds: Int64) {
      self.outcome = outcome
      self.cause = cause
      self.endedMicroseconds = endedMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case outcome
      case cause
      case endedMicroseconds = "ended_us"
    }
  }

  /// One row of the list of apps.
  public struct App: Codable, Hashable, Sendable {
    /// The id in reverse-DNS form, such as `org.example.todo`.
    public let id: String
    /// The name for people.
    public let name: String
    /// The name of the user who owns it, or the number of a user without a name.
    public let owner: String
    /// The phase that the app is in.
    public let phase: Phase
    /// What the daemon thinks of it.
    public let verdict: Verdict
    /// When the next refresh is due, microseconds of the wall clock; absent when nothing is planned.
    public let dueMicroseconds: Int64?
    /// What keeps the next refresh from starting; empty if nothing does.
    public let holds: [Hold]
    /// The id of the refresh that is running, if one is.
    public let running: String?
    /// How the last refresh ended; absent before the first.
    public let last: LastRefresh?
    /// When the last refresh started that did not fail, microseconds of the wall clock: the age of the data.
    ///
    /// Absent before the first.
    public let freshMicroseconds: Int64?
    /// Since when the data is older than the `stale_after` of the app's file, microseconds of the wall clock.
    ///
    /// Absent while it is not, and for an app without one, or that is disabled or logged out.
    public let staleSinceMicroseconds: Int64?

    /// Makes it of its parts.
    public init(
      id: String, name: String, owner: String, phase: Phase, verdict: Verdict, dueMicroseconds: Int64? = nil,
      holds: [Hold], running: String? = nil, last: LastRefresh? = nil, freshMicroseconds: Int64? = nil,
      staleSinceMicroseconds: Int64? = nil
    ) {
      self.id = id
      self.name = name
      self.owner = owner
      self.phase = phase
      self.verdict = verdict
      self.dueMicroseconds = dueMicroseconds
      self.holds = holds
      self.running = running
      self.last = last
      self.freshMicroseconds = freshMicroseconds
      self.staleSinceMicroseconds = staleSinceMicroseconds
    }

    private enum CodingKeys: String, CodingKey {
      case id
      case name
      case owner
      case phase
      case verdict
      case dueMicroseconds = "due_us"
      case holds
      case running
      case last
      case freshMicroseconds = "fresh_us"
      case staleSinceMicroseconds = "stale_since_us"
    }
  }
}
