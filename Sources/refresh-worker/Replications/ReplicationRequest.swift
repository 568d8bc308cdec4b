import FoundationEssentials
import HTTP
import JSON
import RefreshAPI

/// The requests of a replication: the body that names both databases, and the login to the server that is asked.
///
/// Passwords go as objects of the body and in header fields. A URL with a password would stand in CouchDB's log.
struct ReplicationRequest {
  /// The URL of the server, without a slash at its end.
  let server: String
  /// The header fields of each request to the server.
  let headers: [String]
  /// The body that starts the replication.
  let start: JSONValue
  /// The database on the server, whose checkpoints are read; the target if neither or both are on it.
  let near: Wire.ReplicationPeer
  /// The header fields of a request to that database.
  let nearHeaders: [String]
  /// The databases on other servers.
  let far: [Wire.ReplicationPeer]
  /// The body that ends it; CouchDB finds the replication by the other members, which are the same.
  let cancel: JSONValue

  /// Reads the files of the order; throws for a file that others may read, or that has another form.
  init(_ order: Wire.ReplicationOrder) throws(ExchangeFailure) {
    server = order.server.url
    headers = try Self.headers(of: order.server)
    let root = "\(server)/"
    far = [order.source, order.target].filter { !$0.url.hasPrefix(root) }
    near = order.source.url.hasPrefix(root) && !order.target.url.hasPrefix(root) ? order.source : order.target
    nearHeaders = try Self.headers(of: near)
    var members: [JSONValue.Member] = [
      .init(name: "source", value: try Self.endpoint(order.source)),
      .init(name: "target", value: try Self.endpoint(order.target)),
    ]
    if order.createTarget { members.append(.init(name: "create_target", value: .flag(true))) }
    if let selector = order.selector {
      members.append(.init(name: "selector", value: try Self.value(of: selector)))
    }
    start = .object(members)
    cancel = .object(members + [.init(name: "cancel", value: .flag(true))])
  }

  private static func headers(of peer: Wire.ReplicationPeer) throws(ExchangeFailure) -> [String] {
    let own = try peer.headersFile.map { (path) throws(ExchangeFailure) in try PrivateFile.headers(in: path) } ?? []
    guard let (name, password) = try login(of: peer) else { return own }
    // At once: a CouchDB that anonymous users may ask would start a replication that has no right to its databases.
    return own + ["Authorization: Basic \(Data("\(name):\(password)".utf8).base64EncodedString())"]
  }

  private static func endpoint(_ peer: Wire.ReplicationPeer) throws(ExchangeFailure) -> JSONValue {
    var members: [JSONValue.Member] = [.init(name: "url", value: .text(peer.url))]
    if let (name, password) = try login(of: peer) {
      let basic: [JSONValue.Member] = [
        .init(name: "username", value: .text(name)), .init(name: "password", value: .text(password)),
      ]
      members.append(.init(name: "auth", value: .object([.init(name: "basic", value: .object(basic))])))
    }
    if let path = peer.headersFile {
      let fields = try PrivateFile.headers(in: path).map { line in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return JSONValue.Member(name: String(parts[0]), value: .text(String(parts[1].drop(while: \.isWhitespace))))
      }
      members.append(.init(name: "headers", value: .object(fields)))
    }
    return .object(members)
  }

  private static func login(
    of peer: Wire.ReplicationPeer
  ) throws(ExchangeFailure) -> (name: String, password: String)? {
    guard let path = peer.credentialFile else { return nil }
    guard case .password(let name, let password) = try PrivateFile.login(in: path) else { return nil }
    return (name, password)
  }

  private static func value(of selector: String) throws(ExchangeFailure) -> JSONValue {
    do throws(JSONError) { return try JSONValue(jsonText: Array(selector.utf8)) } catch {
      throw ExchangeFailure(kind: .permanent, message: "cannot read the selector; correct it in the app's file")
    }
  }
}
