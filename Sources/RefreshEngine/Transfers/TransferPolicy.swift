/// The number of a transfer, unique for the life of the store.
public struct TransferID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Its place in the order of all transfers that were ever asked for, from 1.
  public let number: UInt64

  /// Names a transfer by its number.
  public init(_ number: UInt64) { self.number = number }

  /// The number, as people write it.
  public var description: String { String(number) }

  /// The order in which they were asked for.
  public static func < (left: TransferID, right: TransferID) -> Bool { left.number < right.number }
}

/// The name of a group of an app's transfers, of whose end the app is told once (FEATURES F2, F8).
public struct TransferSession: Hashable, Comparable, Sendable {
  /// Whose it is.
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

/// What the engine needs to know of a transfer: whose it is, and when it may run.
///
/// What is moved from where to where stays with the daemon.
public struct TransferPolicy: Hashable, Sendable {
  /// Whose it is, and which of the app's groups it belongs to.
  public var session: TransferSession
  /// The server, as `host` or `host:port` in lower case: so many transfers of one run at once (FEATURES F7).
  public var host: String
  /// What it asks of the network; `unmetered` by default (FEATURES F1).
  public var network = NetworkConstraint.unmetered
  /// Which of those that may run is first: higher before lower, then in the order in which they were asked for; 0 by
  /// default.
  public var priority: Int32 = 0
  /// When it was asked for, boot clock: it is given up some days later (``TransferLimits/giveUp``).
  public var enqueuedAt: Instant

  /// The app whose it is.
  public var app: AppID { session.app }

  /// Makes a policy with the defaults of FEATURES F1.
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

/// A transfer that somebody asks for.
public struct Enqueued: Hashable, Sendable {
  /// Its number.
  public var id: TransferID
  /// What the engine needs to know of it.
  public var policy: TransferPolicy

  /// Makes it of its parts.
  public init(id: TransferID, policy: TransferPolicy) {
    self.id = id
    self.policy = policy
  }
}

/// The bounds that the administrator sets for all transfers (FEATURES F6, F7).
public struct TransferLimits: Hashable, Sendable {
  /// How many transfers may run at once, from 1; 8 by default.
  public var maxConcurrent = 8
  /// How many of them with one server, from 1; 6 by default, as browsers have it.
  public var maxPerHost = 6
  /// How long after it was asked for a transfer is given up; 7 days by default.
  public var giveUp = Duration.hours(7 * 24)

  /// Makes the default bounds.
  public init() {}
}
