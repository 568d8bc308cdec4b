/// The holds that keep a due app from starting, and since when.
public struct Waiting: Hashable, Sendable {
  /// Since when it is these holds, boot clock.
  public var since: Instant
  /// The names of the holds, in the order of the verdict.
  public var holds: [Hold.Name]

  /// Makes a waiting.
  public init(since: Instant, holds: [Hold.Name]) {
    self.since = since
    self.holds = holds
  }
}

/// A time in which a due app was held: a line of the history in addition to the refreshes.
public struct WaitRecord: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// From when, boot clock.
  public var since: Instant
  /// Until when, boot clock.
  public var until: Instant
  /// The holds.
  public var holds: [Hold.Name]

  /// Makes a record.
  public init(app: AppID, since: Instant, until: Instant, holds: [Hold.Name]) {
    self.app = app
    self.since = since
    self.until = until
    self.holds = holds
  }
}

extension Engine {
  /// Keeps the record of the holds on a due app, and closes it when they change.
  mutating func noteWaiting(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    var names: [Hold.Name] = []
    if case .held(let holds) = verdict, !isKeptByOpenQuestions(index, holds) {
      names = holds.map(\.name).filter(\.isWorthARecord)
    }
    // Of an app that was forgotten there is nothing to save.
    if apps[index].state.seenAt == nil { names = [] }
    let waiting = apps[index].state.waiting
    guard names != waiting?.holds ?? [] else { return }
    if let waiting {
      turn.decision.waited.append(
        WaitRecord(app: apps.id(at: index), since: waiting.since, until: turn.now, holds: waiting.holds))
    }
    apps[index].state.waiting = names.isEmpty ? nil : Waiting(since: turn.now, holds: names)
    turn.decision.changed.insert(apps.id(at: index))
  }
}

extension Hold.Name {
  /// Whether the history records the hold; the others pass in moments, or are no wait.
  fileprivate var isWorthARecord: Bool {
    switch self {
    case .never, .stopping, .settling, .unsteady, .suspending, .concurrency: false
    default: true
    }
  }
}
