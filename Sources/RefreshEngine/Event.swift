/// Something that happened: the only way to change an ``Engine``.
///
/// Every event is allowed at any time. An event about an unknown app, refresh or lease changes nothing, so that messages
/// may come twice, late or out of order.
public enum Event: Hashable, Sendable {
  /// A configuration is in force: all apps that exist, and the bounds for all.
  case configured(Limits, [AppID: Policy])
  /// A lifecycle message came; it holds until the next message.
  case signalled(AppID, Signal)
  /// A lifecycle message came, `foreground` or `launched`; it holds until its lease ends.
  case leased(LeaseID, AppID, Signal)
  /// The connection that held the lease is gone.
  case leaseEnded(LeaseID, AppID)
  /// The app's presence on its owner's desktops changed; the same presence may come twice.
  case shown(AppID, Presence)
  /// Whether the app's owner is logged in or lingers, as the machine's sessions report; the same may come twice.
  case ownerPresent(AppID, Bool)
  /// A caller set or reset the app's intervals; they replace all earlier overrides.
  case overridden(AppID, Overrides)
  /// Something other than time asks for a refresh now, or after the running refresh.
  case requested(AppID, Trigger)
  /// A person asks for a refresh now, or after the running refresh, against the app's constraints.
  case forced(AppID)
  /// Calls wait for the app's next refresh, or no longer wait.
  ///
  /// While calls wait, a request that would be dropped, as on a change of phase, becomes a manual request.
  case awaited(AppID, Bool)
  /// A caller asks for a refresh at a later time, in place of an earlier such request; nil takes it back.
  case scheduled(AppID, OneShot?)
  /// The user disables the app or enables it again.
  case disabled(AppID, Bool)
  /// The user skips the next refresh that would start by time.
  case skipped(AppID)
  /// The user skips every refresh that would start by time until an instant, boot clock; nil ends such a skip.
  case skippedAll(AppID, until: Instant?)
  /// The user clears the app's learners.
  case forgotten(AppID)
  /// The user deletes everything about an app that has left the configuration.
  case erased(AppID)
  /// A change by the user could not be stored; the state before it comes back (``Engine/undo(of:)``).
  case restored(Before)
  /// The user pauses all apps, or ends the pause.
  case paused(Pause?)
  /// A condition of the machine has changed or become known.
  case observed(Observation)
  /// The command of an app's own condition has answered this question.
  case answered(Run, FactState)
  /// This question was not asked, because something else held the app before its command could start.
  case withdrawn(Run)
  /// This keeper reports: whether it keeps the unit from running, and the unit's state in few words.
  case keeperReported(Run, isKept: Bool, text: String)
  /// This keeper has ended.
  case keeperEnded(Run, KeeperEnd)
  /// The machine has woken up, or has just started.
  case resumed
  /// The time zone of the machine has changed.
  case zoneChanged(Zone)
  /// The daemon performs the start of a refresh now: its processes and its deadline run from now on.
  ///
  /// Only a driver that made the engine with `awaitsBegin` sends this event.
  case began(RefreshID)
  /// A task reported its outcome over the socket, before its process ended; `task` counts from 0.
  case completed(RefreshID, task: Int, Outcome, message: String)
  /// A task asks for a wait before the retry, if its refresh fails.
  case retryAfter(RefreshID, Duration)
  /// A task promises that for this long after its end there will be nothing newer.
  case freshFor(RefreshID, Duration)
  /// A person stops a running refresh as its deadline would.
  case expired(RefreshID)
  /// All processes of a task are gone; `task` counts from 0.
  case taskEnded(RefreshID, task: Int, TaskEnd)
  /// Tasks of a refresh, or their recorded ends, have survived the previous daemon.
  ///
  /// Comes before the first `configured`, which resumes the refresh. A `taskEnded` follows for each of these tasks.
  case survived(RefreshID, tasks: Set<Int>)
  /// A process of the app serves its refreshes from now on.
  case attached(AppID)
  /// No process of the app serves its refreshes any more.
  case detached(AppID)
  /// Something has changed in a folder that the app's file watches; the folder as the file names it.
  case changed(AppID, in: String)
  /// The app made a sync by itself, outside of any refresh.
  case synced(AppID, foundNew: Bool)
  /// The machine will sleep at this instant, boot clock; `resumed` follows, also if it does not sleep.
  case suspending(until: Instant)
  /// A caller requests transfers, each with a number that was never used.
  case enqueued([Enqueued])
  /// The user pauses a transfer, or resumes it.
  case transferPaused(TransferID, Bool)
  /// The user cancels a transfer: its partial file is deleted.
  case transferCancelled(TransferID)
  /// The user changes the priority of a transfer.
  case transferPrioritized(TransferID, Int32)
  /// All bytes of a transfer have arrived, and only the rename is left: its slot is free.
  case transferFetched(TransferID)
  /// A transfer has moved this many bytes in all.
  case transferMoved(TransferID, bytes: Int64)
  /// The worker reports the result of a transfer, or has ended.
  case transferReported(TransferID, TransferReport)
  /// The disk has room for a transfer that waited for it.
  case roomFound(TransferID)
  /// A push came for an app, with a number that was never used.
  case pushed(AppID, Push)
  /// The wall clock was set: wall time minus boot time is now this.
  case clockStepped(wallOffset: Duration)
  /// The daemon stops: nothing starts any more, and every refresh is asked to end, except those left to the next daemon.
  case stopped(leaving: Set<RefreshID>)
  /// A caller makes several changes with one call: they are applied in this order, and judged once.
  case several([Event])
  /// Time has passed, and nothing else happened.
  case wokeUp
}
