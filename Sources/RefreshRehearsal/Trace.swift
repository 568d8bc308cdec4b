import RefreshEngine

/// A record of some days: the updates of each app's source and the openings of the app.
///
/// Times are minutes since the trace began, at midnight of a Monday, local time.
public struct Trace: Sendable {
  /// An app of a trace.
  public struct TracedApp: Sendable {
    /// The app.
    public var id: AppID
    /// The times at which the source had something new, in order.
    public var updates: [Double]
    /// The times at which the user brought the app to the foreground for a moment, in order.
    public var openings: [Double]
    /// The times in which each refresh of the app fails.
    public var fails: Range<Double>

    /// Makes an app from its times, in any order.
    public init(id: AppID, updates: [Double], openings: [Double], fails: Range<Double> = 0..<0) {
      self.id = id
      self.fails = fails
      self.updates = updates.sorted()
      self.openings = openings.sorted()
    }

    /// The first update after `start` and not after `end`; nil if there is none.
    func firstUpdate(after start: Double, until end: Double) -> Double? {
      let first = updates.partitioningIndex { $0 > start }
      return first < updates.count && updates[first] <= end ? updates[first] : nil
    }
  }

  /// The apps.
  public var apps: [TracedApp]
  /// The length of the trace in days.
  public var days: Int
  /// The days for learning at the beginning, which are not measured.
  public var warmUp: Int
  /// The recorded minutes; nil for the whole trace.
  public var recorded: ClosedRange<Double>?

  /// The measured minutes: the recorded ones after the days for learning.
  public var measured: ClosedRange<Double> {
    let whole = Double(warmUp) * 1440...Double(days) * 1440
    return recorded.map { $0.clamped(to: whole) } ?? whole
  }

  /// Makes a trace.
  public init(apps: [TracedApp], days: Int, warmUp: Int) {
    self.apps = apps
    self.days = days
    self.warmUp = warmUp
  }
}
