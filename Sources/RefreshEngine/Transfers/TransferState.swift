/// How a transfer has ended.
public enum TransferResult: String, Hashable, Sendable, CaseIterable {
  /// The file is complete at its place, and was checked.
  case done
  /// It cannot succeed, however often it is tried; nothing of it is kept.
  case failed
  /// The user cancelled it; its partial file is deleted.
  case cancelled
  /// It did not succeed within ``TransferLimits/giveUp``; nothing of it is kept.
  case expired
}

/// Why a running transfer is stopped.
public enum TransferStop: String, Hashable, Sendable, CaseIterable {
  /// The network no longer meets its constraint, or a disk or device that its app's file names is gone.
  case network
  /// The user paused it.
  case paused
  /// The user cancelled it; its partial file is to be removed.
  case cancelled
  /// Its time is up (``TransferLimits/giveUp``); its partial file is to be removed.
  case expired
  /// The app was logged out.
  case loggedOut = "logged-out"
  /// The user disabled the app, paused all apps, or removed the app from the configuration.
  case user
  /// The machine is going to sleep.
  case sleep
  /// The daemon is stopping.
  case shutdown

  /// Whether nothing of the transfer is kept.
  public var discards: Bool { self == .cancelled || self == .expired }

  /// The result of a discarded transfer.
  var result: TransferResult { self == .expired ? .expired : .cancelled }
}

/// A worker's report about a transfer.
public enum TransferReport: Hashable, Sendable {
  /// The file is complete at its place, and was checked.
  case done
  /// It cannot succeed; nothing of it is kept.
  case failed
  /// It did not finish, and may the next time.
  ///
  /// The server may ask for a wait. After ``AttemptProgress/hasProgressed`` the next attempt follows at once.
  case retry(after: Duration?, hasProgressed: Bool)
  /// The content is wrong, or nobody can tell whether it is complete; nothing of it is kept.
  ///
  /// It may be right later, as after the login page of a network. But the tries are bounded, because each may move the
  /// whole file.
  case wrong
  /// The disk has no room for it; the needed bytes.
  case noSpace(needed: Int64)
  /// It was stopped, as ordered.
  case stopped
  /// The worker has ended; `hasProgressed` as in ``retry(after:hasProgressed:)``.
  case lost(hasProgressed: Bool)
}

/// The state of a transfer, which outlives the daemon and the boot.
///
///     waiting      -> transferring  it may run, and there is a slot for it
///     transferring -> stopping      it may no longer run
///     transferring -> waiting       a failure that is worth a retry
///     transferring -> noSpace       the disk is full
///     noSpace      -> waiting       there is room
///     stopping     -> waiting       network, logged-out, user, sleep, shutdown
///     stopping     -> paused        paused
///     waiting      -> stopping      cancelled, expired: what is there of it is removed
///     waiting      -> paused        the user pauses it
///     paused       -> waiting       the user resumes it
///
/// From every stage it ends when it is done or cannot succeed.
public struct TransferState: Hashable, Sendable {
  /// The stage of a transfer.
  public enum Stage: Hashable, Sendable {
    /// It waits to run, and not before this instant, boot clock.
    case waiting(from: Instant)
    /// A worker has it.
    case transferring
    /// Its worker was told to stop, and has not reported the stop.
    case stopping(TransferStop)
    /// The user paused it.
    case paused
    /// It waits for room on the disk, in bytes.
    case noSpace(needed: Int64)
    /// It has ended, boot clock.
    case ended(TransferResult, at: Instant)
  }

  /// The app, and the conditions of the transfer.
  public var policy: TransferPolicy
  /// The stage.
  public var stage: Stage
  /// Whether a worker ever had it, so that a partial file may exist.
  public var hasBegun = false
  /// How many attempts in a row made no progress; after its end, how often the app was woken for it.
  public var failures: Int32 = 0
  /// How often its content was wrong since the daemon started; not saved.
  public var wrongs: Int32 = 0
  /// Whether the app was woken for it, after its end.
  public var isDelivered = false

  /// The state of a transfer that was just requested.
  public init(policy: TransferPolicy, stage: Stage? = nil) {
    self.policy = policy
    self.stage = stage ?? .waiting(from: policy.enqueuedAt)
  }

  /// The state with all its instants changed, as after a reboot.
  public func moved(_ change: (Instant) -> Instant) -> TransferState {
    var state = self
    state.policy.enqueuedAt = change(policy.enqueuedAt)
    switch stage {
    case .waiting(let from): state.stage = .waiting(from: change(from))
    case .ended(let result, let at): state.stage = .ended(result, at: change(at))
    case .transferring, .stopping, .paused, .noSpace: break
    }
    return state
  }

  /// Whether a worker has it.
  var isGiven: Bool {
    switch stage {
    case .transferring, .stopping: true
    case .waiting, .paused, .noSpace, .ended: false
    }
  }

  /// When it ended, boot clock; nil before.
  var endedAt: Instant? {
    if case .ended(_, let at) = stage { at } else { nil }
  }
}

/// The engine's answer about a transfer at an instant.
public enum TransferVerdict: Hashable, Sendable {
  /// It starts now.
  case ready
  /// The earliest next try, boot clock.
  case notDue(until: Instant)
  /// The holds that keep it from running.
  case held([Hold])
  /// It runs.
  case transferring
  /// It was told to stop.
  case stopping(TransferStop)
  /// The user paused it.
  case paused
  /// It waits for room on the disk, in bytes.
  case noSpace(needed: Int64)
  /// It has ended.
  case ended(TransferResult)
}
