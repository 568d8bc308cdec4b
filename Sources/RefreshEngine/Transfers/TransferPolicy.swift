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

/// A named group of an app's transfers; the app learns of its end once.
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
