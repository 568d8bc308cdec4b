import FoundationEssentials
import HTTP
import JSON
import RefreshAPI

/// The requests of a replication: the body that names both databases, and the login to the server that is asked.
///
/// Passwords are sent in objects of the body and in header fields. CouchDB would log a URL with a password.
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
    // Sent with the first request: a CouchDB that serves anonymous users would otherwise start a replication without the
    // right to read its databases.
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

/// A request to a CouchDB server, and its whole answer.
final class CouchCall {
  /// The answer.
  enum Answer {
    /// A response, perhaps without the end of its body if its status is an error.
    case response(ResponseHead, body: [UInt8])
    /// No response.
    case failure(ExchangeFailure)
  }

  /// The most bytes of a body, fifty times those of a replication's history.
  private static let longestBody = 1 << 20

  /// The exchange, for the loop.
  let exchange: Exchange
  /// The answer; nil before it is whole.
  private(set) var answer: Answer?
  private var body: [UInt8] = []

  /// Makes a POST of a JSON value, or a GET if there is none.
  ///
  /// `silence` is how long nothing may be received or sent. `answerTime` is how long the server may work before it
  /// answers; nil for ten times `silence`.
  init(url: String, headers: [String], posting value: JSONValue?, silence: Duration, answerTime: Duration? = nil) {
    var request = HTTPRequest(url: url, headers: headers + ["Accept: application/json"])
    let bytes = value.map { Self.bytes(of: $0) }
    if let bytes {
      request.method = .post
      request.headers.append("Content-Type: application/json")
      request.bodyLength = Int64(bytes.count)
    }
    (request.stall, request.answerTime) = (silence, answerTime)
    exchange = Exchange(request)
    var sent = 0
    exchange.fill = { room in
      guard let rest = bytes?.dropFirst(sent) else { return .broken }
      let count = min(rest.count, room.count)
      room.copyBytes(from: rest.prefix(count))
      sent += count
      return .bytes(count)
    }
    exchange.rewind = { offset in
      sent = Int(offset)
      return true
    }
    exchange.onBody = { [unowned self] part in
      guard body.count + part.count <= Self.longestBody else { return .ended }
      body.append(contentsOf: part)
      return .consumed
    }
    exchange.onEnd = { [unowned self] in receive($0) }
  }

  private static func bytes(of value: JSONValue) -> [UInt8] {
    var writer = JSONWriter()
    value.write(to: &writer)
    return writer.bytes
  }

  private func receive(_ end: Exchange.End) {
    answer =
      switch end {
      // The reader of JSON detects a cut answer that has no mark of its end.
      case .whole(let head), .unmarked(let head): .response(head, body: body)
      case .stopped:
        .failure(
          ExchangeFailure(
            kind: .temporary,
            message: "cannot use the answer of \(exchange.host): it has more than \(Self.longestBody >> 20) MiB"))
      case .failed(_, let head?) where head.status >= 300: .response(head, body: body)
      case .failed(let failure, _): .failure(failure)
      }
  }
}
