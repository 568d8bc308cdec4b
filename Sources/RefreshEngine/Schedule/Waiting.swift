/// The holds that keep a due app from starting, and since when.
public struct Waiting: Hashable, Sendable {
  /// When these holds began, boot clock.
  public var since: Instant
  /// The names of the holds, in the order of the verdict.
  public var holds: [Hold.Name]

  /// Makes a wait.
  public init(since: Instant, holds: [Hold.Name]) {
    self.since = since
    self.holds = holds
  }
}

/// The time in which a due app was held: a line of the history besides the refreshes.
public struct WaitRecord: Hashable, Sendable {
  /// The app.
  public var app: AppID
  /// The beginning, boot clock.
  public var since: Instant
  /// The end, boot clock.
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
  /// Updates the record of the holds on a due app, and closes it when they change.
  mutating func noteWaiting(_ index: AppIndex, _ verdict: Verdict, _ turn: inout Turn) {
    var names: [Hold.Name] = []
    if case .held(let holds, _) = verdict, !isKeptByOpenQuestions(index, holds) {
      names = holds.map(\.name).filter(\.isWorthARecord)
    }
    // Nothing is saved about an erased app.
    if apps[index].state.seenAt == nil { names = [] }
    let waiting = apps[index].state.waiting
    guard names != waiting?.holds ?? [] else { return }
    if let waiting {
      turn.decision.changes.history.waits.append(
        WaitRecord(app: apps.id(at: index), since: waiting.since, until: turn.now, holds: waiting.holds))
    }
    apps[index].state.waiting = names.isEmpty ? nil : Waiting(since: turn.now, holds: names)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }
}

extension Hold.Name {
  /// Whether the history records the hold; the other holds last for moments, or are no wait.
  fileprivate var isWorthARecord: Bool {
    switch self {
    case .never, .stopping, .settling, .unsteady, .suspending, .concurrency: false
    default: true
    }
  }
}
