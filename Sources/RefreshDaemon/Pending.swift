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

  /// Pushes that came in one call, and who waits for them to be saved.
  struct Arrival {
    let pushes: [ArrivedPush]
    /// Told after the commit why nothing of it was saved, or which pushes were left out, because they were taken before.
    let then: (StoreError?, Set<PushID>) -> Void
  }

  /// The apps to be saved.
  var changed: Set<AppID> = []
  /// Whether the wall clock was set: a later boot reads this boot's instants by the offset that was saved last.
  var clockStepped = false
  /// Whether what holds for all apps is to be saved.
  var deviceChanged = false
  /// The apps of which more was learnt.
  var learned: Set<AppID> = []
  /// What apps remember of URLs, where that changed; nil for what is forgotten.
  var validators: [AppID: [String: Validator?]] = [:]
  /// When apps were opened, for the history.
  var openings: [Opening] = []
  /// The refreshes for the history.
  var ended: [RefreshRecord] = []
  /// The waits for the history.
  var waited: [WaitRecord] = []
  /// The transfers that are to be in the queue once they are saved.
  var enqueued: [TransferID: StoredTransfer] = [:]
  /// The transfers of which the engine decided something.
  var transfersChanged: Set<TransferID> = []
  /// The transfers of which a worker told something that is worth saving.
  var transferProgress: Set<TransferID> = []
  /// The transfers that are forgotten.
  var transfersRemoved: Set<TransferID> = []
  /// The pushes that are to be taken once they are saved.
  var arrivals: [Arrival] = []
  /// What the engine decided of pushes.
  var pushes: [PushID: PushChange] = [:]
  /// The messages of pushes that were refused after they were saved.
  var messagesUnseen: [AppID: Set<String>] = [:]
  /// The pushes that were dropped, for the history.
  var pushesDropped: [DroppedPush] = []
  /// Whether all transfers and pushes are to be saved, because nothing of them is any more.
  var savesAll = false
  /// Whether what it saves must outlive a loss of power although nobody is promised it: a file is in its place, or an app
  /// was told.
  var mustLast = false
  /// What to do after the commit, in this order.
  var work: [Work] = []
  /// Told after the commit, whether it went well or not.
  var answers: [() -> Void] = []
  /// Told after the commit whether what was promised outlives a loss of power; nil says that it does.
  var promises: [(StoreError?) -> Void] = []

  /// Whether there is anything to write.
  var isToBeSaved: Bool {
    !changed.isEmpty || deviceChanged || clockStepped || !learned.isEmpty || !openings.isEmpty || !ended.isEmpty
      || !waited.isEmpty || !validators.isEmpty || !promises.isEmpty || changesTransfers || changesPushes
  }

  private var changesTransfers: Bool {
    !enqueued.isEmpty || !transfersChanged.isEmpty || !transferProgress.isEmpty || !transfersRemoved.isEmpty
      || savesAll
  }

  private var changesPushes: Bool {
    !arrivals.isEmpty || !pushes.isEmpty || !messagesUnseen.isEmpty || !pushesDropped.isEmpty
  }

  /// Whether nobody waits for the commit: nothing is to be started or answered after it, and nothing has ended.
  var canWait: Bool {
    !clockStepped && ended.isEmpty && work.isEmpty && answers.isEmpty && promises.isEmpty && arrivals.isEmpty
  }

  /// Whether there is nothing to do.
  var isEmpty: Bool { !isToBeSaved && work.isEmpty && answers.isEmpty }
}
