import RefreshEngine

/// A record of some days: the updates of each app's source and the openings of the app.
///
/// Moments are minutes since the trace began, at midnight of a Monday, local time.
public struct Trace: Sendable {
  /// An app of a trace.
  public struct App: Sendable {
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
  public var apps: [App]
  /// How many days it lasts.
  public var days: Int
  /// The days at its beginning that are for learning and are not measured.
  public var warmUp: Int

  /// Makes a trace.
  public init(apps: [App], days: Int, warmUp: Int) {
    self.apps = apps
    self.days = days
    self.warmUp = warmUp
  }
}
