import RefreshEngine

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
