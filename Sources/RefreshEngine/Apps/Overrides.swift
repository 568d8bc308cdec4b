/// Intervals set at run time, which take the place of the file's until they are reset (FEATURES A8).
public struct Overrides: Hashable, Sendable {
  /// In place of the file's foreground interval, if set.
  public var foregroundInterval: Interval?
  /// In place of the file's background interval, if set.
  public var backgroundInterval: Interval?

  /// Makes overrides; nothing is overridden by default.
  public init(foregroundInterval: Interval? = nil, backgroundInterval: Interval? = nil) {
    self.foregroundInterval = foregroundInterval
    self.backgroundInterval = backgroundInterval
  }
}
