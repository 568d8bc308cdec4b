/// Something that happened: the only way to change an ``Engine``.
///
/// Every event is allowed at any time. An event about an unknown app, refresh or lease changes nothing, so that messages
/// may come twice, late or out of order.
public enum Event: Hashable, Sendable {
  /// A configuration is in force: these are all the apps there are, and the bounds for all.
  case configured(Limits, [AppID: Policy])
  /// A lifecycle message came that holds until another one comes.
  case signalled(AppID, Signal)
  /// A lifecycle message came that holds until its lease ends; `foreground` or `launched`.
  case leased(LeaseID, AppID, Signal)
  /// The connection that held the lease is gone.
  case leaseEnded(LeaseID, AppID)
  /// The desktops of the app's owner show the app in another way; state, so that the same may come twice.
  case shown(AppID, Presence)
  /// A caller set or reset the app's intervals; these replace all that were set before.
  case overridden(AppID, Overrides)
  /// Something other than time asks for a refresh now, or after the one that is running.
  case requested(AppID, Trigger)
  /// A person asks for a refresh now, or after the one that is running, whatever the app's constraints say.
  case forced(AppID)
  /// Calls wait for the app's next refresh, or none waits any more.
  ///
  /// While calls wait, a request that would be dropped, as on a change of phase, becomes a manual one.
  case awaited(AppID, Bool)
  /// A caller asks for a refresh at a later time; it replaces an earlier such request. Nil takes that back.
  case scheduled(AppID, OneShot?)
  /// The user disables the app or enables it again.
  case disabled(AppID, Bool)
  /// The user skips the next refresh that would start by time.
  case skipped(AppID)
  /// The user skips every refresh that would start by time until an instant, boot clock; nil ends such a skip.
  case skippedAll(AppID, until: Instant?)
  /// The user has the app's learners cleared.
  case forgotten(AppID)
  /// Everything about an app that is out of the configuration is to be forgotten.
  case erased(AppID)
  /// A change by the user could not be stored, and what it replaced comes back (``Engine/undo(of:)``).
  case restored(Before)
  /// The user pauses all apps, or ends the pause.
  case paused(Pause?)
  /// A condition of the machine has changed or become known.
  case observed(Observation)
  /// The command of a condition of the app's own has answered the question of that id.
  case answered(AppID, RefreshID, Constraint, FactState)
  /// The question of that id was not asked: something else has come to hold the app while the command waited for its turn.
  case withdrawn(AppID, RefreshID, Constraint)
  /// The keeper with this id reports: whether it keeps the unit from running, and the unit's state in few words.
  case keeperReported(AppID, RefreshID, isKept: Bool, text: String)
  /// The keeper of that id has ended.
  case keeperEnded(AppID, RefreshID, KeeperEnd)
  /// The machine has woken up, or has just started.
  case resumed
  /// The local time follows from Unix time in another way now.
  case zoneChanged(Zone)
  /// The start of a refresh is performed now: its processes run from now on, and its deadline too.
  ///
  /// Comes only from a driver that told the engine to await it.
  case began(RefreshID)
  /// A task reported its outcome over the socket, before its process ended; `task` counts from 0.
  case completed(RefreshID, task: Int, Outcome, message: String)
  /// A task asks for a wait before the retry, if its refresh fails.
  case retryAfter(RefreshID, Duration)
  /// A task promises that there is nothing newer for so long after its end.
  case freshFor(RefreshID, Duration)
  /// A person lets a running refresh expire, as its deadline would.
  case expired(RefreshID)
  /// All processes of a task are gone; `task` counts from 0.
  case taskEnded(RefreshID, task: Int, TaskEnd)
  /// Tasks of a refresh have survived the previous daemon, or their ends have.
  ///
  /// Comes before the first `configured`, which resumes the refresh; each of these tasks has its `taskEnded` after that.
  case survived(RefreshID, tasks: Set<Int>)
  /// A process of the app serves its refreshes from now on.
  case attached(AppID)
  /// No process of the app serves its refreshes any more.
  case detached(AppID)
  /// Something has changed in a folder that the app's file has watched; the folder as the file names it.
  case changed(AppID, in: String)
  /// The app made a sync by itself, outside of any refresh.
  case synced(AppID, foundNew: Bool)
  /// The machine goes to sleep at this instant, boot clock; `resumed` follows, also if it does not come to it.
  case suspending(until: Instant)
  /// A caller asks for transfers, each with a number that was never used.
  case enqueued([Enqueued])
  /// The user pauses a transfer, or has it go on at once.
  case transferPaused(TransferID, Bool)
  /// The user cancels a transfer: its partial file is deleted.
  case transferCancelled(TransferID)
  /// The user changes the priority of a transfer.
  case transferPrioritized(TransferID, Int32)
  /// All bytes of a transfer have arrived, and only the rename is left: its slot is free for another transfer.
  case transferFetched(TransferID)
  /// So many bytes of a transfer are moved.
  case transferMoved(TransferID, bytes: Int64)
  /// The worker reports the result of a transfer, or has ended.
  case transferReported(TransferID, TransferReport)
  /// There is room for a transfer that waits for it.
  case roomFound(TransferID)
  /// A push came for an app, with a number that was never used.
  case pushed(AppID, Push)
  /// Wall time minus boot time is this now.
  case clockStepped(wallOffset: Duration)
  /// The daemon stops: nothing starts any more, and every refresh is asked to end but those left to the next daemon.
  case stopped(leaving: Set<RefreshID>)
  /// A caller asks for several changes with one call: they are applied in this order, and judged once.
  case several([Event])
  /// Time has passed. Time passes on every event, so this one does nothing else.
  case wokeUp
}
