extension Wire {
  /// What a push asks of the machine before it wakes the app.
  ///
  /// The app's own constraints hold besides. What nobody knows of the machine counts as the configuration says.
  public enum Urgency: String, Codable, Hashable, Sendable, CaseIterable {
    /// Mains power and an unmetered network.
    case veryLow = "very_low"
    /// Mains power or an unmetered network.
    case low
    /// A battery that is not low.
    case normal
    /// Nothing.
    case high
  }

  /// What has become of a push.
  public enum PushFate: String, Codable, Hashable, Sendable, CaseIterable {
    /// It is stored, and the app is woken with it.
    case queued
    /// It is stored in the place of one that waited.
    ///
    /// That one was of the same content or, where neither has a content id, had the same payload.
    case merged
    /// It wakes nobody: those who are attached to the app were told.
    case told
    /// It was taken before, under the same id.
    case known
  }

  /// What a source of pushes is.
  public enum SourceKind: String, Codable, Hashable, Sendable, CaseIterable {
    /// A server of ntfy.
    case ntfy
    /// A stream of server-sent events.
    case sse
    /// A broker of MQTT.
    case mqtt
  }
}
