/// The engine's decision on one event: the daemon saves it in one transaction, and then performs its effects.
public struct Decision: Hashable, Sendable {
  /// The apps whose ``AppState`` differs from the saved state.
  public var changed: Set<AppID> = []
  /// The refreshes that ended, for the history, in the same transaction.
  public var ended: [RefreshRecord] = []
  /// The ended tasks that had run, in this order, also the tasks of the refreshes in ``ended``.
  public var tasksEnded: [EndedTask] = []
  /// The waits that ended, for the history, in the same transaction.
  public var waited: [WaitRecord] = []
  /// The apps to erase.
  public var erased: Set<AppID> = []
  /// The apps that are not erased after all.
  public var kept: Set<AppID> = []
  /// The apps whose learners changed.
  public var learned: Set<AppID> = []
  /// The openings of apps, and the ends of openings, in order of time, for the history.
  public var openings: [Opening] = []
  /// The apps whose desktop openings the history clears (true) or restores (false).
  public var openingsForgotten: [AppID: Bool] = [:]
  /// Whether the learners that all apps share changed; they are saved with the ``DeviceState``.
  public var deviceLearned = false
  /// Whether the rest of the ``DeviceState`` differs from the saved state.
  public var deviceChanged = false
  /// The transfers whose ``TransferState`` differs from the saved state.
  public var transfersChanged: Set<TransferID> = []
  /// The transfers to delete.
  public var transfersRemoved: Set<TransferID> = []
  /// The pushes that differ from the saved pushes.
  public var pushes: [PushID: PushChange] = [:]
  /// The pushes that were dropped, for the history, in the same transaction.
  public var pushesDropped: [DroppedPush] = []
  /// The pushes that were merged into an older push, and are deleted.
  public var pushesMerged: Set<PushID> = []
  /// The ended sessions of transfers that their apps never learn of, because no refresh could be started for a week.
  public var wakesDropped: [TransferSession] = []
  /// The effects to perform after the commit, in this order, even if it fails.
  public var effects: [Effect] = []

  /// A decision that changes nothing.
  public init() {}
}

/// An action for the daemon to perform after the commit of its decision, even if the commit fails.
///
/// A crash may lose an effect, never a fact: the next daemon finds a started refresh in the store and resolves it.
public enum Effect: Hashable, Sendable {
  /// Start the tasks of the app that come after no other, side by side.
  ///
  /// A `taskEnded` answers each started task, also if it cannot start.
  case start(RefreshID, AppID, Trigger, deadline: Instant)
  /// Have the app's attached process perform the refresh, as its one task 0, in place of its commands.
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
  /// Ask the command of a condition of the app's own whether it is met.
  ///
  /// A single `answered` answers this effect, also if the command cannot start. The run's owner is the question.
  case ask(Run)
  /// Start the keeper of a unit; `isKept` tells whether an earlier keeper left the unit stopped or frozen.
  ///
  /// A single `keeperEnded` answers this effect, also if the keeper cannot start.
  case keep(Run, GuardedUnit, isKept: Bool)
  /// Have this keeper return its unit and end; if it does not run, start it to return the unit.
  ///
  /// The one `keeperEnded` of that keeper answers this effect. It waits for no disk if the keeper certainly runs.
  case giveBack(Run, GuardedUnit, isRunning: Bool)
  /// Report a unit that an earlier keeper kept, if it is still stopped or frozen: no file names it any more.
  case reportLeftUnit(AppID, GuardedUnit)
}
