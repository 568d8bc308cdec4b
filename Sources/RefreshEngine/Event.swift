/// Something that happened: the only way to change an ``Engine``.
///
/// Every event is good at any time. One that speaks of an app, a refresh or a lease that is not there changes nothing,
/// so that messages may come twice, late or out of order.
public enum Event: Hashable, Sendable {
  /// A configuration is in force: these are all the apps there are, and the bounds for all.
  case configured(Limits, [AppID: Policy])
  /// A lifecycle message came that holds until another one comes.
  case signalled(AppID, Signal)
  /// A lifecycle message came that holds until its lease ends; `foreground` or `launched`.
  case leased(LeaseID, AppID, Signal)
  /// The connection that held the lease is gone.
  case leaseEnded(LeaseID, AppID)
  /// Somebody set or reset the app's intervals; these take the place of all that were set before.
  case overridden(AppID, Overrides)
  /// Something other than time asks for a refresh now, or after the one that is running.
  case requested(AppID, Trigger)
  /// Somebody asks for a refresh at a later time; it takes the place of one that was asked for before (FEATURES A13).
  case scheduled(AppID, OneShot)
  /// The user disables the app or enables it again.
  case disabled(AppID, Bool)
  /// The user passes over the next refresh that would start by time.
  case skipped(AppID)
  /// What was learnt of the app is to be forgotten.
  case forgotten(AppID)
  /// The user pauses all apps, or ends the pause.
  case paused(Pause?)
  /// A condition of the machine is another one now, or is known now.
  case observed(Observation)
  /// The machine has woken up, or has just started.
  case resumed
  /// The local time follows from Unix time in another way now.
  case zoneChanged(Zone)
  /// A task said over the socket how it went, before its process ended; `task` counts from 0.
  case completed(RefreshID, task: Int, Outcome, message: String)
  /// A task said when to try again if its refresh fails: not before so long after its end (FEATURES C6).
  case retryAfter(RefreshID, Duration)
  /// A task said that there is nothing newer for so long after its end (FEATURES C8).
  case freshFor(RefreshID, Duration)
  /// All processes of a task are gone; `task` counts from 0.
  case taskEnded(RefreshID, task: Int, TaskEnd)
  /// Tasks of a refresh that was running when the daemon before this one ended are there still, or their ends are.
  ///
  /// Before the first `configured`, which lets the refresh go on; each of these tasks has its `taskEnded` after that.
  case survived(RefreshID, tasks: Set<Int>)
  /// A process of the app serves its refreshes from now on (FEATURES B6).
  case attached(AppID)
  /// No process of the app serves its refreshes any more.
  case detached(AppID)
  /// The machine goes to sleep at this instant, boot clock; `resumed` follows, also if it does not come to it.
  case suspending(until: Instant)
  /// Somebody asks for transfers; each must have a number that none had before (FEATURES F1).
  case enqueued([Enqueued])
  /// The user pauses a transfer, or has it go on at once.
  case transferPaused(TransferID, Bool)
  /// The user cancels a transfer: nothing of it is kept.
  case transferCancelled(TransferID)
  /// A transfer is to stand before those of lower priority.
  case transferPrioritized(TransferID, Int32)
  /// All bytes of a transfer are here, and it has yet to be put into place: another one may have its place.
  case transferFetched(TransferID)
  /// Whoever was given a transfer says what came of it, or is gone.
  case transferReported(TransferID, TransferReport)
  /// There is room for a transfer that waits for it.
  case roomFound(TransferID)
  /// A push came for an app; it must have a number that none had before (FEATURES E1).
  case pushed(AppID, Push)
  /// Wall time minus boot time is this now.
  case clockStepped(wallOffset: Duration)
  /// The daemon stops: nothing starts any more, and what runs is told to end.
  ///
  /// But for the refreshes that are left to the daemon after this one.
  case stopped(leaving: Set<RefreshID>)
  /// Time has passed. Time passes on every event, so this one does nothing else.
  case wokeUp
}

/// What the engine decided on one event: first save, in one transaction, then perform.
public struct Decision: Hashable, Sendable {
  /// The apps whose ``AppState`` is no longer what was saved.
  public var changed: Set<AppID> = []
  /// The refreshes that ended, for the history, in the same transaction.
  public var ended: [RefreshRecord] = []
  /// The waits that ended, for the history, in the same transaction.
  public var waited: [WaitRecord] = []
  /// The apps of which more was learnt, to be saved.
  public var learned: Set<AppID> = []
  /// The apps that the user has brought to the foreground, for the history.
  public var opened: [AppID] = []
  /// Whether the machine has learnt something of all apps, which is saved with the ``DeviceState``.
  public var deviceLearned = false
  /// Whether the rest of the ``DeviceState`` is no longer what was saved.
  public var deviceChanged = false
  /// The transfers whose ``TransferState`` is no longer what was saved.
  public var transfersChanged: Set<TransferID> = []
  /// The transfers that are forgotten.
  public var transfersRemoved: Set<TransferID> = []
  /// The pushes that are no longer what was saved.
  public var pushes: [PushID: PushChange] = [:]
  /// The pushes that were dropped, for the history, in the same transaction.
  public var pushesDropped: [DroppedPush] = []
  /// The pushes whose place another one, which waited before, has taken; they are to be forgotten.
  public var pushesMerged: Set<PushID> = []
  /// What to do when that is saved, in this order.
  public var effects: [Effect] = []

  /// A decision that changes nothing.
  public init() {}
}

/// Something for the daemon to do, once what led to it is saved.
///
/// A crash may lose an effect, never a fact: what had started is found in the store and gets its outcome there.
public enum Effect: Hashable, Sendable {
  /// Start the tasks of the app that come after no other, side by side.
  ///
  /// Each task that is started is answered by one `taskEnded`, also if it cannot start.
  case start(RefreshID, AppID, Trigger, deadline: Instant)
  /// Have the app's attached process do the refresh, as its one task 0, in place of its commands.
  ///
  /// Answered by one `taskEnded` too.
  case perform(RefreshID, AppID, Trigger, deadline: Instant)
  /// Start one more task of a running refresh: all that it comes after have ended well; `task` counts from 0.
  case startTask(RefreshID, AppID, task: Int)
  /// Tell the app that its refresh will be stopped at the deadline (FEATURES B1).
  case warn(RefreshID, AppID, deadline: Instant)
  /// Ask every process of the refresh to end: SIGTERM; tell an attached one that it is cancelled.
  case terminate(RefreshID, AppID, StopReason)
  /// End every process of the refresh: SIGKILL; give up on an attached one.
  case kill(RefreshID, AppID)
  /// Give a transfer to the app's worker.
  ///
  /// Answered by exactly one `transferReported`, also if no worker can be started.
  case transfer(TransferID, AppID)
  /// Have a transfer stopped, and, for a reason that ``TransferStop/discards``, have removed what is there of it.
  ///
  /// Answered by the one `transferReported` of the transfer that runs. One that is to be discarded may be in no worker's
  /// hands: a worker is started for it all the same, and the report is the answer to this.
  case stopTransfer(TransferID, AppID, TransferStop)
  /// Tell that the app's data is older than it should be, once for each time that it becomes so (FEATURES D8).
  ///
  /// The data is that of `since`. The id names no refresh; it is there to call the command by that tells.
  case tellStale(RefreshID, AppID, since: Instant)
}
