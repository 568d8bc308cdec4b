import RefreshEngine

/// A record of some days: the updates of each app's source and the openings of the app.
///
/// Moments are minutes since the trace began, at midnight of a Monday, local time.
public struct Trace: Sendable {
  /// An app of a trace.
  public struct TracedApp: Sendable {
    /// The app.
    public var id: AppID
    /// When the source had something new, in order of time.
    public var updates: [Double]
    /// When the user brought the app to the foreground for a moment, in order of time.
    public var openings: [Double]
    /// While each refresh of the app fails.
    public var fails: Range<Double>

    /// Makes an app of its moments, in any order.
    public init(id: AppID, updates: [Double], openings: [Double], fails: Range<Double> = 0..<0) {
      self.id = id
      self.fails = fails
      self.updates = updates.sorted()
      self.openings = openings.sorted()
    }

    /// The first update after a moment and not after another one; nil if there is none.
    func firstUpdate(after start: Double, until end: Double) -> Double? {
      let first = updates.partitioningIndex { $0 > start }
      return first < updates.count && updates[first] <= end ? updates[first] : nil
    }
  }

  /// The apps.
  public var apps: [TracedApp]
  /// How many days it lasts.
  public var days: Int
  /// The days at its beginning that are for learning and are not measured.
  public var warmUp: Int
  /// The minutes of which something is recorded; the whole trace if nil.
  public var recorded: ClosedRange<Double>?

  /// The minutes that are measured: those behind the days for learning, as far as they are recorded.
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
