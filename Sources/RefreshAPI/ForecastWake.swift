extension Wire {
  /// A refresh that would start.
  public struct ForecastStart: Codable, Hashable, Sendable {
    /// The id of the app.
    public let app: String
    /// Why it would start.
    public let trigger: Trigger

    /// Makes it of its parts.
    public init(app: String, trigger: Trigger) {
      self.app = app
      self.trigger = trigger
    }
  }

  /// A wake that would start refreshes.
  public struct ForecastWake: Codable, Hashable, Sendable {
    /// From when until when it may be; its first moment is the one that the rest of the forecast goes by.
    public let window: Window
    /// What would start, in this order; at least one.
    public let starts: [ForecastStart]

    /// Makes it of its parts.
    public init(window: Window, starts: [ForecastStart]) {
      self.window = window
      self.starts = starts
    }
  }

  /// An app that would not start, and why not.
  public struct ForecastRest: Codable, Hashable, Sendable {
    /// The id of the app.
    public let app: String
    /// When it is due, microseconds of the wall clock; absent when it is held.
    public let dueMicroseconds: Int64?
    /// What holds it at the end of the forecast; empty when it is not due.
    public let holds: [Hold]

    /// Makes it of its parts.
    public init(app: String, dueMicroseconds: Int64? = nil, holds: [Hold]) {
      self.app = app
      self.dueMicroseconds = dueMicroseconds
      self.holds = holds
    }

    private enum CodingKeys: String, CodingKey {
      case app
      case dueMicroseconds = "due_us"
      case holds
    }
  }
}
