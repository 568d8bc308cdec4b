/// The number of a transfer, unique for the life of the store.
public struct TransferID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// The number among all transfers that were ever requested, from 1.
  public let number: UInt64

  /// Names a transfer by its number.
  public init(_ number: UInt64) { self.number = number }

  /// The number as text.
  public var description: String { String(number) }

  /// Order of the requests.
  public static func < (left: TransferID, right: TransferID) -> Bool { left.number < right.number }
}

/// A named group of an app's transfers; its end is delivered to the app once.
public struct TransferSession: Hashable, Comparable, Sendable {
  /// The app.
  public var app: AppID
  /// Its name, unique in the app.
  public var name: String

  /// Names a session.
  public init(app: AppID, name: String) {
    self.app = app
    self.name = name
  }

  /// Order of the apps' ids, then of the names.
  public static func < (left: TransferSession, right: TransferSession) -> Bool {
    (left.app, left.name) < (right.app, right.name)
  }
}

/// The policy of a transfer: its app, and when it may run.
///
/// The URL and the path stay with the daemon.
public struct TransferPolicy: Hashable, Sendable {
  /// The app, and its session that the transfer belongs to.
  public var session: TransferSession
  /// The server, as `host` or `host:port` in lower case.
  public var host: String
  /// The network that it needs; `unmetered` by default.
  public var network = NetworkConstraint.unmetered
  /// The priority among the transfers of one user: higher before lower, then in order of the requests; 0 by default.
  public var priority: Int32 = 0
  /// When it was requested, boot clock: it is given up some days later (``TransferLimits/giveUp``).
  public var enqueuedAt: Instant

  /// Its app.
  public var app: AppID { session.app }

  /// The server without a port; ``TransferLimits/maxPerHost`` counts by it.
  ///
  /// Neither a second port nor the final dot of a full name makes a second server.
  public var server: String {
    guard host.utf8.contains(UInt8(ascii: ":")) || host.utf8.last == UInt8(ascii: ".") else { return host }
    var name = host[...]
    if let colon = name.lastIndex(of: ":"), name[colon...].dropFirst().allSatisfy(\.isNumber),
      !name.hasPrefix("[") || name[..<colon].hasSuffix("]")
    {
      name = name[..<colon]
    }
    while name.hasSuffix(".") { name = name.dropLast() }
    return String(name)
  }

  /// Makes a policy with the default values.
  public init(
    session: TransferSession, host: String, network: NetworkConstraint = .unmetered, priority: Int32 = 0,
    enqueuedAt: Instant
  ) {
    self.session = session
    self.host = host
    self.network = network
    self.priority = priority
    self.enqueuedAt = enqueuedAt
  }
}

/// A transfer that a caller requests.
public struct Enqueued: Hashable, Sendable {
  /// Its number.
  public var id: TransferID
  /// Its policy.
  public var policy: TransferPolicy

  /// Makes a request from its parts.
  public init(id: TransferID, policy: TransferPolicy) {
    self.id = id
    self.policy = policy
  }
}

/// The bounds that the administrator sets for all transfers.
public struct TransferLimits: Hashable, Sendable {
  /// How many transfers may run at once, from 1; 8 by default.
  public var maxConcurrent = 8
  /// How many transfers with one server may run at once, from 1; 6 by default, as in browsers.
  public var maxPerHost = 6
  /// How long after its request a transfer is given up; 7 days by default.
  public var giveUp = Duration.hours(7 * 24)

  /// Makes the default bounds.
  public init() {}
}

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
  /// The content is wrong, or may be incomplete; nothing of it is kept.
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
///     waiting      -> stopping      cancelled, expired: its partial file is removed
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
    /// Its worker was asked to stop, and has not reported the stop.
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
  /// How many attempts in a row made no progress; after its end, how often it was delivered to the app.
  public var failures: Int32 = 0
  /// How often its content was wrong since the daemon started; not saved.
  public var wrongs: Int32 = 0
  /// Whether it was delivered to the app, after its end.
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

/// The verdict on a transfer at an instant.
public enum TransferVerdict: Hashable, Sendable {
  /// It starts now.
  case ready
  /// The earliest next try, boot clock.
  case notDue(until: Instant)
  /// The holds that keep it from running.
  case held([Hold])
  /// It runs.
  case transferring
  /// It was asked to stop.
  case stopping(TransferStop)
  /// The user paused it.
  case paused
  /// It waits for room on the disk, in bytes.
  case noSpace(needed: Int64)
  /// It has ended.
  case ended(TransferResult)
}

/// The progress of one attempt to move a file.
///
/// After progress the next attempt follows at once; without progress the back-off grows.
public struct AttemptProgress: Hashable, Sendable {
  /// The least number of bytes that counts as progress.
  public static let worthHaving: Int64 = 64 * 1024

  /// How many bytes of the file are moved so far.
  public var bytes: Int64
  /// The most bytes that were moved before this attempt.
  public private(set) var mostBefore: Int64

  /// Makes the progress of a transfer before its first attempt since the daemon started.
  public init(bytes: Int64) { (self.bytes, mostBefore) = (bytes, bytes) }

  /// Begins the next attempt.
  public mutating func begin() { mostBefore = max(mostBefore, bytes) }

  /// Whether the attempt has moved more of the file.
  ///
  /// Reaching the point of an earlier attempt again is not progress. Otherwise a server that makes each attempt start over,
  /// and breaks off at the same point, would be asked without end or pause.
  public var hasProgressed: Bool { bytes - mostBefore >= Self.worthHaving }
}
