import RefreshConfig
import RefreshEngine
import RefreshStore

/// What the next commit saves, and what waits for it: one turn of the loop, or more while a commit is under way.
struct Pending {
  /// An effect, with the configuration that was in force when the engine decided on it.
  struct Work {
    let effect: Effect
    let app: AppConfiguration?
  }

  /// The apps to be saved.
  var changed: Set<AppID> = []
  /// The refreshes for the history.
  var ended: [RefreshRecord] = []
  /// What to do after the commit, in this order.
  var work: [Work] = []
  /// Told after the commit, whether it went well or not.
  var answers: [() -> Void] = []
  /// Told after the commit whether what was promised outlives a loss of power; nil says that it does.
  var promises: [(StoreError?) -> Void] = []

  /// Whether there is anything to write.
  var isToBeSaved: Bool { !changed.isEmpty || !ended.isEmpty || !promises.isEmpty }

  /// Whether there is nothing to do.
  var isEmpty: Bool { !isToBeSaved && work.isEmpty && answers.isEmpty }
}

/// What a full disk kept from being written, until there is room (DESIGN section 7).
struct Unsaved {
  /// How many refreshes are kept in memory at most; the oldest go first. About a megabyte.
  static let recordLimit = 2_000

  /// The apps whose saved state is old.
  var changed: Set<AppID> = []
  /// The refreshes that are not in the history yet.
  var ended: [RefreshRecord] = []
  /// Why the store cannot be written.
  let problem: StoreError

  init(_ problem: StoreError, of pending: Pending, after before: Unsaved?) {
    self.problem = problem
    changed = pending.changed.union(before?.changed ?? [])
    ended = ((before?.ended ?? []) + pending.ended).suffix(Self.recordLimit)
  }
}
