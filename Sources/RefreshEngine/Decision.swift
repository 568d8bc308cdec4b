/// The engine's decision on one event: the daemon saves its changes in one transaction, and then performs its effects.
public struct Decision: Hashable, Sendable {
  /// What differs from the saved state.
  public var changes = Changes()
  /// The tasks that ran and have ended, in this order, with those of the ended refreshes.
  public var tasksEnded: [EndedTask] = []
  /// The ended sessions of transfers that their apps never learn of, because no refresh could be started for a week.
  public var sessionsDropped: [TransferSession] = []
  /// The apps whose phase changed by a signal, a lease, a desktop or a session, with the new phase.
  public var phases: [AppID: Phase] = [:]
  /// The effects to perform after the commit, in this order, even if it fails.
  public var effects: [Effect] = []

  /// A decision that changes nothing.
  public init() {}

  /// Adds a later decision, which is performed with this one.
  public mutating func merge(_ later: Decision) {
    changes.merge(later.changes)
    tasksEnded += later.tasksEnded
    sessionsDropped += later.sessionsDropped
    phases.merge(later.phases) { $1 }
    effects += later.effects
  }
}

/// What differs from the saved state: one list from the engine's decision to the disk.
///
/// It names what changed, and the engine has the values. Only a push and a line of the history carry their value.
public struct Changes: Hashable, Sendable {
  /// A part of the ``DeviceState``.
  public enum DevicePart: Hashable, Sendable {
    /// The user's pause.
    case pause
    /// The learners that all apps share, and the last night that updated the learners.
    case habits
  }

  /// The apps whose ``AppState`` changed.
  public var apps: Set<AppID> = []
  /// The apps whose learners changed.
  public var learned: Set<AppID> = []
  /// The apps to erase, before anything else is saved: a file may name an app again that was just erased.
  public private(set) var erased: Set<AppID> = []
  /// The apps whose erasure is taken back.
  public private(set) var restored: Set<AppID> = []
  /// The parts of the ``DeviceState`` that changed.
  public var device: Set<DevicePart> = []
  /// The transfers whose ``TransferState`` changed, also those that the engine no longer has: they are deleted.
  public var transfers: Set<TransferID> = []
  /// The pushes that changed.
  public var pushes: [PushID: PushChange] = [:]
  /// The new lines of the history.
  public var history = HistoryLines()

  /// No changes.
  public init() {}

  /// Whether nothing changed.
  public var isEmpty: Bool { self == Changes() }

  /// Marks an app for erasure.
  public mutating func erase(_ app: AppID) {
    erased.insert(app)
    restored.remove(app)
  }

  /// Takes back the erasure of an app.
  public mutating func restore(_ app: AppID) {
    erased.remove(app)
    restored.insert(app)
  }

  /// Adds later changes, which are saved with these; drops the earlier changes of apps that they erase.
  public mutating func merge(_ later: Changes) {
    apps.subtract(later.erased)
    learned.subtract(later.erased)
    if !later.erased.isEmpty { history.remove(later.erased) }
    erased = erased.subtracting(later.restored).union(later.erased)
    restored = restored.subtracting(later.erased).union(later.restored)
    apps.formUnion(later.apps)
    learned.formUnion(later.learned)
    device.formUnion(later.device)
    transfers.formUnion(later.transfers)
    pushes.merge(later.pushes) { _, later in later }
    history.append(later.history)
  }
}

/// An action for the daemon to perform after the commit of its decision, even if the commit fails.
///
/// A crash may lose an effect, never a fact: the next daemon finds a started refresh in the store and resolves it.
public enum Effect: Hashable, Sendable {
  /// Start the app's tasks that wait for no other task, side by side.
  ///
  /// A `taskEnded` answers each started task, also if it cannot start.
  case start(RefreshID, AppID, Trigger, deadline: Instant)
  /// Have the app's attached process perform the refresh, as the only task 0, in place of the app's commands.
  ///
  /// A single `taskEnded` answers this effect.
  case perform(RefreshID, AppID, Trigger, deadline: Instant)
  /// Start one more task of a running refresh: every task in its `after` has succeeded; `task` counts from 0.
  case startTask(RefreshID, AppID, task: Int)
  /// Warn the app that its refresh will be stopped at the deadline.
  case warn(RefreshID, AppID, deadline: Instant)
  /// Send SIGTERM to every process of the refresh, or a cancellation to an attached process.
  case terminate(RefreshID, AppID, StopReason)
  /// Send SIGKILL to every process of the refresh, or give up on an attached process.
  case kill(RefreshID, AppID)
  /// Report that processes of the refresh outlived SIGKILL: its slot is free, and its app stays busy until they end.
  case reportStuck(RefreshID, AppID)
  /// Give a transfer to the app's worker.
  ///
  /// Exactly one `transferReported` answers this effect, also if no worker can be started.
  case transfer(TransferID, AppID)
  /// Stop a transfer, and delete its partial file if the reason ``TransferStop/discards``.
  ///
  /// The one `transferReported` of a running transfer answers this effect. A transfer to discard may have no worker: then
  /// the daemon starts a worker, whose report is the answer.
  case stopTransfer(TransferID, AppID, TransferStop)
  /// Report that the app's data became older than `stale_after`, once each time.
  ///
  /// The data is from `since`. The run is the notify command that the daemon starts.
  case reportStale(Run, since: Instant)
  /// Report that a due refresh of the app has been held for `held_for`, once an episode.
  ///
  /// The holds are the present ones. The run is the notify command that the daemon starts.
  case reportHeld(Run, [Hold.Name], since: Instant)
  /// Report how a refresh of the app went, if its file asks for that, or if the app is failing now.
  indirect case reportEnd(EndReport, AppID)
  /// Ask the command of an app's own condition whether the condition is met.
  ///
  /// A single `answered` answers this effect, also if the command cannot start. The run's owner is the question.
  case ask(Run)
  /// Start the keeper of a unit; `isKept` says whether an earlier keeper left the unit stopped or frozen.
  ///
  /// A single `keeperEnded` answers this effect, also if the keeper cannot start.
  case keep(Run, GuardedUnit, isKept: Bool)
  /// Have this keeper return its unit and end; if it does not run, start it to return the unit.
  ///
  /// The one `keeperEnded` of that keeper answers this effect. It does not wait for the disk if the keeper is known to run.
  case giveBack(Run, GuardedUnit, isRunning: Bool)
  /// Report a unit that an earlier keeper kept, if it is still stopped or frozen: no file names it any more.
  case reportLeftUnit(AppID, GuardedUnit)
}

/// The new lines of the history for the next save, each kind in order of time, and the lines to clear.
///
/// A full disk may stay full for days, so the oldest lines of each kind are dropped beyond a bound. The states matter more,
/// and the number of apps bounds them.
public struct HistoryLines: Hashable, Sendable {
  /// The most lines of each kind that may wait.
  public static let most = 1_000

  /// The openings of apps, and their ends, boot clock.
  public var openings: [Opening] = []
  /// The refreshes that ended.
  public var refreshes: [RefreshRecord] = []
  /// The waits that ended.
  public var waits: [WaitRecord] = []
  /// The pushes that were dropped.
  public var droppedPushes: [DroppedPush] = []
  /// The apps whose desktop openings are cleared, these lines included; true clears them, false restores them.
  public var openingsForgotten: [AppID: Bool] = [:]

  /// No lines.
  public init() {}

  /// The apps that have new lines.
  public var apps: Set<AppID> {
    Set(openings.map(\.app) + refreshes.map(\.app) + waits.map(\.app) + droppedPushes.map(\.app))
  }

  /// Appends later lines in place.
  public mutating func append(_ later: HistoryLines) {
    func append<Line>(_ later: [Line], to lines: inout [Line]) {
      lines += later
      if lines.count > Self.most { lines.removeFirst(lines.count - Self.most) }
    }
    append(later.openings, to: &openings)
    append(later.refreshes, to: &refreshes)
    append(later.waits, to: &waits)
    append(later.droppedPushes, to: &droppedPushes)
    openingsForgotten.merge(later.openingsForgotten) { _, later in later }
  }

  /// Keeps the wall times of the lines when the wall clock is set by `step` before they are saved.
  ///
  /// The save adds its own offset of wall time to boot time, so the lines move back by as much.
  public mutating func keepWallTimes(whenSetBy step: Duration) {
    for index in openings.indices { openings[index].at = openings[index].at - step }
    for index in refreshes.indices {
      refreshes[index].startedAt = refreshes[index].startedAt - step
      refreshes[index].endedAt = refreshes[index].endedAt - step
    }
    for index in waits.indices {
      waits[index].since = waits[index].since - step
      waits[index].until = waits[index].until - step
    }
    for index in droppedPushes.indices {
      droppedPushes[index].arrivedAt = droppedPushes[index].arrivedAt - step
      droppedPushes[index].droppedAt = droppedPushes[index].droppedAt - step
    }
  }

  /// Drops the lines of apps that are erased.
  public mutating func remove(_ apps: Set<AppID>) {
    openings.removeAll { apps.contains($0.app) }
    refreshes.removeAll { apps.contains($0.app) }
    waits.removeAll { apps.contains($0.app) }
    droppedPushes.removeAll { apps.contains($0.app) }
  }
}
