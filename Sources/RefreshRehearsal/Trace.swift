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

/// The recorded past of an app: its syncs with their results, and its openings.
public struct RecordedPast: Sendable {
  /// A sync: a refresh that did not fail.
  public struct Sync: Sendable {
    /// The time, in minutes since the trace begins.
    public var at: Double
    /// Whether it found new data.
    public var foundNew: Bool

    /// Makes a sync.
    public init(at: Double, foundNew: Bool) {
      self.at = at
      self.foundNew = foundNew
    }
  }

  /// The app.
  public var app: AppID
  /// Its syncs.
  public var syncs: [Sync]
  /// The times of its openings, in minutes since the trace begins.
  public var openings: [Double]

  /// Makes a recorded past; its times may be in any order.
  public init(app: AppID, syncs: [Sync], openings: [Double]) {
    self.app = app
    self.syncs = syncs.sorted { $0.at < $1.at }
    self.openings = openings
  }

  /// Converts the past to an app of a trace.
  ///
  /// The daemon does not record when the source had something new, only between which two syncs. An update is placed in the
  /// middle. Several updates between two syncs count as one.
  var traced: Trace.TracedApp {
    var before = 0.0
    var updates: [Double] = []
    for sync in syncs {
      if sync.foundNew { updates.append((before + sync.at) / 2) }
      before = sync.at
    }
    return Trace.TracedApp(id: app, updates: updates, openings: openings)
  }
}

extension Trace {
  /// Makes a trace of the past; all but the last `measured` days are for learning.
  ///
  /// `end` is the end of the past, in minutes since the trace begins.
  public init(recalling past: [RecordedPast], days: Int, measured: Int, until end: Double) {
    self.init(apps: past.map(\.traced), days: days, warmUp: max(0, Int(end / 1440) - measured))
    let begin = past.flatMap { [$0.syncs.first?.at, $0.openings.min()] }.compactMap(\.self).min() ?? end
    recorded = min(max(begin, end - Double(measured) * 1440), end)...end
  }
}
