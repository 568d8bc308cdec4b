/// The start of a refresh: what is saved before its first process, so that a crash cannot lose it.
public struct Started: Hashable, Sendable {
  /// The refresh.
  public var id: RefreshID
  /// Why it started.
  public var trigger: Trigger
  /// When it started, boot clock.
  public var at: Instant
  /// The session of transfers whose end the app is told with it; nil for another trigger than `transfer`.
  public var session: String?
  /// The push that the app is told with it; nil when it tells none.
  public var push: PushID?

  /// Makes a start.
  public init(id: RefreshID, trigger: Trigger, at: Instant, session: String? = nil, push: PushID? = nil) {
    self.id = id
    self.trigger = trigger
    self.at = at
    self.session = session
    self.push = push
  }
}
