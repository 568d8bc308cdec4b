/// The engine's decision on one event: first save it, in one transaction, then perform its effects.
public struct Decision: Hashable, Sendable {
  /// The apps whose ``AppState`` is no longer what was saved.
  public var changed: Set<AppID> = []
  /// The refreshes that ended, for the history, in the same transaction.
  public var ended: [RefreshRecord] = []
  /// The tasks that ended after they had run, in this order; those of a refresh in ``ended`` are among them.
  public var tasksEnded: [EndedTask] = []
  /// The waits that ended, for the history, in the same transaction.
  public var waited: [WaitRecord] = []
  /// The apps of which nothing is to be kept.
  public var erased: Set<AppID> = []
  /// The apps that are not to be erased after all.
  public var kept: Set<AppID> = []
  /// The apps of which more was learnt, to be saved.
  public var learned: Set<AppID> = []
  /// When the user brought apps to the foreground and left them, in order of time, for the history.
  public var openings: [Opening] = []
  /// The apps of which the history is to forget the openings that desktops showed; false for those that keep them after all.
  public var openingsForgotten: [AppID: Bool] = [:]
  /// Whether the machine has learnt something of all apps, which is saved with the ``DeviceState``.
  public var deviceLearned = false
  /// Whether the rest of the ``DeviceState`` is no longer what was saved.
  public var deviceChanged = false
  /// The transfers whose ``TransferState`` is no longer what was saved.
  public var transfersChanged: Set<TransferID> = []
  /// The transfers to delete.
  public var transfersRemoved: Set<TransferID> = []
  /// The pushes that are no longer what was saved.
  public var pushes: [PushID: PushChange] = [:]
  /// The pushes that were dropped, for the history, in the same transaction.
  public var pushesDropped: [DroppedPush] = []
  /// The pushes that were merged into an older one; they are to be deleted.
  public var pushesMerged: Set<PushID> = []
  /// The effects to perform once that is saved, in this order.
  public var effects: [Effect] = []

  /// A decision that changes nothing.
  public init() {}
}

/// An action for the daemon to perform, once the decision behind it is saved.
///
/// A crash may lose an effect, never a fact: the next daemon finds a started refresh in the store and resolves it.
public enum Effect: Hashable, Sendable {
  /// Start the tasks of the app that come after no other, side by side.
  ///
  /// Each task that is started is answered by one `taskEnded`, also if it cannot start.
  case start(RefreshID, AppID, Trigger, deadline: Instant)
  /// Have the app's attached process perform the refresh, as its one task 0, in place of its commands.
  ///
  /// Answered by one `taskEnded` too.
  case perform(RefreshID, AppID, Trigger, deadline: Instant)
  /// Start one more task of a running refresh: every task in its `after` has succeeded; `task` counts from 0.
  case startTask(RefreshID, AppID, task: Int)
  /// Warn the app that its refresh will be stopped at the deadline.
  case warn(RefreshID, AppID, deadline: Instant)
  /// Send SIGTERM to every process of the refresh, and a cancellation to an attached one.
  case terminate(RefreshID, AppID, StopReason)
  /// Send SIGKILL to every process of the refresh, and give up on an attached one.
  case kill(RefreshID, AppID)
  /// Report that processes of the refresh outlived SIGKILL: its slot is free, and its app stays busy until they end.
  case reportStuck(RefreshID, AppID)
  /// Give a transfer to the app's worker.
  ///
  /// Answered by exactly one `transferReported`, also if no worker can be started.
  case transfer(TransferID, AppID)
  /// Stop a transfer, and delete its partial file for a reason that ``TransferStop/discards``.
  ///
  /// Answered by the one `transferReported` of the transfer that runs. A transfer to discard may have no worker: the daemon
  /// starts a worker for it all the same, and the report answers this effect.
  case stopTransfer(TransferID, AppID, TransferStop)
  /// Report that the app's data is older than `stale_after`, once each time it becomes so.
  ///
  /// The data is that of `since`. The id names no refresh but the notify command that the daemon starts.
  case reportStale(RefreshID, AppID, since: Instant)
  /// Report that a due refresh of the app has been held for `held_for`, once an episode.
  ///
  /// The holds are those of this moment. The id names no refresh but the notify command that the daemon starts.
  case reportHeld(RefreshID, AppID, [Hold.Name], since: Instant)
  /// Report how a refresh of the app went, where its file asks for that, or where it makes the app a failing one.
  indirect case reportEnd(EndReport, AppID)
  /// Ask the command of a condition of the app's own whether it is met.
  ///
  /// Answered by one `answered`, also if the command cannot start. The id names no refresh but the command.
  case ask(RefreshID, AppID, Constraint)
  /// Start the keeper of a unit, which keeps it from running; `isKept` tells whether an earlier keeper has left it so.
  ///
  /// Answered by one `keeperEnded`, also if it cannot start. The id names no refresh but the keeper.
  case keep(RefreshID, AppID, GuardedUnit, isKept: Bool)
  /// Have the keeper of that id return its unit and end; where there is none, start one for that.
  ///
  /// Answered by the one `keeperEnded` of that keeper. The return by a keeper that runs for certain waits for no disk.
  case giveBack(RefreshID, AppID, GuardedUnit, isRunning: Bool)
  /// Report that a unit stays as an earlier keeper has left it, because no file names the unit any more.
  case reportLeftUnit(AppID, String)
}
