/// How a transfer has ended.
public enum TransferResult: String, Hashable, Sendable, CaseIterable {
  /// All of it is where it should be, and was checked.
  case done
  /// It cannot succeed, however often it is tried; nothing of it is kept.
  case failed
  /// The user cancelled it; its partial file is deleted.
  case cancelled
  /// It did not succeed within ``TransferLimits/giveUp``; nothing of it is kept.
  case expired
}

/// Why a transfer that runs is stopped.
public enum TransferStop: String, Hashable, Sendable, CaseIterable {
  /// The network is no longer what it asks for.
  case network
  /// The user paused it.
  case paused
  /// The user cancelled it: what is there of it is to be removed.
  case cancelled
  /// Its time is up (``TransferLimits/giveUp``): what is there of it is to be removed.
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

  /// The result of a transfer that is discarded.
  var result: TransferResult { self == .expired ? .expired : .cancelled }
}

/// The report of a worker about a transfer.
public enum TransferReport: Hashable, Sendable {
  /// All of it is where it should be, and was checked.
  case done
  /// It cannot succeed; nothing of it is kept.
  case failed
  /// It did not get to its end, and may the next time.
  ///
  /// The server may ask for a wait. After ``AttemptProgress/hasProgressed`` the next attempt is made at once.
  case retry(after: Duration?, hasProgressed: Bool)
  /// The content is wrong, or nobody can tell whether it is whole; nothing of it is kept.
  ///
  /// It may be right later, as after the login page of a network; but not without end, because each try costs a file.
  case wrong
  /// There is no room for it: so many bytes are needed.
  case noSpace(needed: Int64)
  /// It was stopped, as it was asked for.
  case stopped
  /// The worker has ended; `hasProgressed` as above.
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
/// From every stage it ends when it is done or cannot be.
public struct TransferState: Hashable, Sendable {
  /// Where a transfer is.
  public enum Stage: Hashable, Sendable {
    /// It is to run, not before this instant, boot clock.
    case waiting(from: Instant)
    /// It was given to a worker.
    case transferring
    /// Its worker was told to stop, and has not said that it did.
    case stopping(TransferStop)
    /// The user paused it.
    case paused
    /// It waits for this much room on the disk, in bytes.
    case noSpace(needed: Int64)
    /// It has ended, boot clock.
    case ended(TransferResult, at: Instant)
  }

  /// The app, and when the transfer may run.
  public var policy: TransferPolicy
  /// Where it is.
  public var stage: Stage
  /// Whether it was ever given to a worker, so that there may be something of it on the disk.
  public var hasBegun = false
  /// How often in a row it did not get on; after its end, how often the app was woken for it.
  public var failures: Int32 = 0
  /// How often its content was wrong since the daemon started; not saved.
  public var wrongs: Int32 = 0
  /// Whether the app was woken for it, after its end.
  public var isDelivered = false

  /// The state of a transfer that was just asked for.
  public init(policy: TransferPolicy, stage: Stage? = nil) {
    self.policy = policy
    self.stage = stage ?? .waiting(from: policy.enqueuedAt)
  }

  /// The state with all its instants changed, as a reboot changes them.
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

  /// When it ended, boot clock; nil while it has not.
  var endedAt: Instant? {
    if case .ended(_, let at) = stage { at } else { nil }
  }
}

/// The engine's answer about one transfer at one instant.
public enum TransferVerdict: Hashable, Sendable {
  /// It starts now.
  case ready
  /// It is not tried again before this instant, boot clock.
  case notDue(until: Instant)
  /// Something keeps it from running.
  case held([Hold])
  /// It runs.
  case transferring
  /// It was told to stop.
  case stopping(TransferStop)
  /// The user paused it.
  case paused
  /// It waits for room on the disk, so many bytes.
  case noSpace(needed: Int64)
  /// It has ended.
  case ended(TransferResult)
}
