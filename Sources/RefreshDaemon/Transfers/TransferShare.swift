import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

/// The share of the queue that an app has, or a user with all apps.
struct TransferShare {
  private(set) var ids: Set<TransferID> = []
  private(set) var bytes = 0
  private(set) var servers: [String: Int] = [:]
  /// The owner of the app when it last added to the queue; nil if the store has transfers without an owner.
  private(set) var owner: UInt32?

  mutating func add(_ id: TransferID, _ known: KnownTransfers.Known) {
    ids.insert(id)
    owner = known.request.owner ?? owner
    bytes += known.request.bytes
    servers[known.server, default: 0] += 1
  }

  mutating func remove(_ id: TransferID, _ known: KnownTransfers.Known) {
    ids.remove(id)
    bytes -= known.request.bytes
    let rest = (servers[known.server] ?? 1) - 1
    servers[known.server] = rest == 0 ? nil : rest
  }
}

/// The bounds of the queue, in all and for each user, whose apps count together.
enum TransferQuota {
  /// The most transfers in the queue, including ended transfers that are still listed.
  static let transfers = 20_000
  /// The most bytes of all requests.
  static let bytes = 8 << 20
  /// How many of them each user may have even if the queue is full.
  static let reserved = 1_000
  static let transfersOfUser = 10_000
  /// The most bytes of one user's requests: URLs, paths and texts.
  static let bytesOfUser = 4 << 20
  static let serversOfUser = 1_000
  static let transfersOfFlatpak = 1_000
  static let serversOfFlatpak = 64

  /// The bound that the new transfers of one sandboxed app would exceed; nil if there is room within those of its user.
  static func exceeded(
    by new: [(request: TransferRequest, server: String)], ofFlatpak share: TransferShare?
  ) -> TransfersInterface.QueueFull? {
    if new.count + (share?.ids.count ?? 0) > transfersOfFlatpak {
      return full(transfersOfFlatpak, "transfers of one sandboxed app", untilForgotten)
    }
    guard Set(new.map(\.server)).union(share.map { Set($0.servers.keys) } ?? []).count > serversOfFlatpak else {
      return nil
    }
    return full(serversOfFlatpak, "servers of one sandboxed app's transfers", untilForgotten)
  }

  /// Finds the bound that a user's new transfers would exceed.
  ///
  /// - Parameters:
  ///   - new: the new transfers, each with its server.
  ///   - share: the shares of the user's apps.
  ///   - count: the number of transfers of all users.
  ///   - total: the bytes of the requests of all users.
  /// - Returns: the error for the first exceeded bound; nil if there is room.
  static func exceeded(
    by new: [(request: TransferRequest, server: String)], _ share: [TransferShare], count: Int, total: Int
  ) -> TransfersInterface.QueueFull? {
    let own = share.reduce(new.count) { $0 + $1.ids.count }
    if own > transfersOfUser {
      return full(transfersOfUser, "transfers of one user", untilForgotten)
    }
    let added = new.reduce(0) { $0 + $1.request.bytes }
    if share.reduce(added, { $0 + $1.bytes }) > bytesOfUser {
      return full(bytesOfUser, "bytes of one user's requests", "use shorter URLs and texts, or \(untilForgotten)")
    }
    let servers = share.reduce(into: Set(new.map(\.server))) { $0.formUnion($1.servers.keys) }
    if servers.count > serversOfUser {
      return full(serversOfUser, "servers of one user's transfers", untilForgotten)
    }
    guard own > reserved else { return nil }
    if count + new.count > transfers { return full(transfers, "transfers of all users", untilForgotten) }
    if total + added > bytes { return full(bytes, "bytes of all users' requests", untilForgotten) }
    return nil
  }

  /// The remedy where only time makes room: an ended transfer is listed for a day, and counts.
  private static let untilForgotten = "wait: a transfer counts until a day after its end"

  private static func full(_ limit: Int, _ bound: String, _ remedy: String) -> TransfersInterface.QueueFull {
    TransfersInterface.QueueFull(limit: limit, bound: bound, remedy: remedy)
  }
}

extension TransferRequest {
  /// The approximate number of bytes that are kept for it.
  fileprivate var bytes: Int {
    let texts = [url, path, description, sha256, headersFile, credentialFile, notice]
    return texts.reduce(256) { $0 + ($1?.utf8.count ?? 0) }
  }
}

extension KnownTransfers {
  /// The bound of the queue that an app's new transfers would exceed; nil if there is room.
  func exceeded(
    by asked: [CheckedTransfer], of app: AppConfiguration, isFlatpak: Bool, in configuration: ConfigurationInForce,
    at now: Instant
  ) -> TransfersInterface.QueueFull? {
    // An app that has left the configuration counts for its last owner.
    let owned = shares.filter { (configuration[$0]?.owner.uid ?? $1.owner) == app.owner.uid }
    let new = asked.map { ($0.request, $0.policy(of: app.id, at: now).server) }
    if isFlatpak, let full = TransferQuota.exceeded(by: new, ofFlatpak: shares[app.id]) { return full }
    return TransferQuota.exceeded(by: new, Array(owned.values), count: count, total: bytes)
  }
}
