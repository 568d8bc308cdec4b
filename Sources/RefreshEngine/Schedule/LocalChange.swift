/// The changes in an app's watched folders, from the first to the last that no refresh has followed.
///
/// They are not saved: the next daemon looks at the folders itself.
public struct LocalChange: Hashable, Sendable {
  /// When the first came, boot clock.
  public var since: Instant
  /// When the last came, boot clock.
  public var last: Instant
  /// The folder of the last, as the app's file names it.
  public var folder: String

  /// How long a change still counts as the app's own work, after a refresh by an attached process or a sync by the app
  /// itself: either may write a little longer.
  public static let ownWritesSpan = Duration.seconds(1)
  /// After how many settle times a refresh no longer waits for quiet folders.
  static let longestSettling = 10

  /// Makes a change.
  public init(since: Instant, last: Instant, folder: String) {
    (self.since, self.last, self.folder) = (since, last, folder)
  }
}

extension App {
  /// When a change in the watched folders asks for a refresh, boot clock; nil without a change.
  ///
  /// It waits until the folders have settled, for the foreground interval after the last start, and for a retry, a rest or
  /// a promise of freshness, because nobody waits for it.
  func dueByChange(limits: Limits, at now: Instant) -> Instant? {
    guard let change, let policy else { return nil }
    let settle = policy.watchSettle
    var due = min(change.last + settle, change.since + settle * LocalChange.longestSettling)
    if let lastStart = state.lastStart {
      due = max(due, lastStart + (spacing(in: .foreground, limits: limits) ?? limits.foregroundFloor))
      if let rest = restsUntil, rest > now, phase == .background { due = max(due, min(rest, lastStart + maxStale)) }
    }
    if let request = state.request, request.trigger == .retry { due = max(due, request.earliest) }
    return max(due, refusedUntil ?? due)
  }
}

extension Engine {
  /// Notes a change in a watched folder of an app.
  ///
  /// A change during a refresh of the app counts as that refresh's own work; otherwise each refresh would lead to the next.
  /// An app that is off keeps its change until it is on again.
  mutating func noteChange(of id: AppID, in folder: String, _ turn: inout Turn) {
    guard let index = apps.index(of: id), apps[index].policy?.watch.contains(folder) == true,
      apps[index].refreshing == nil
    else { return }
    if let until = apps[index].writesUntil, turn.now < until { return }
    apps[index].writesUntil = nil
    apps[index].change = LocalChange(since: apps[index].change?.since ?? turn.now, last: turn.now, folder: folder)
    turn.touch(index)
  }

  /// Notes that a long-lived process of an app has just synced.
  mutating func noteOwnWrites(of index: AppIndex, at now: Instant) {
    guard apps[index].policy?.watch.isEmpty == false else { return }
    apps[index].writesUntil = now + LocalChange.ownWritesSpan
  }
}
