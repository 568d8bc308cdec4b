import HTTP
import JSON

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
      return .taken
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
            message: "cannot take the answer of \(exchange.host): it has more than \(Self.longestBody >> 20) MiB"))
      case .failed(_, let head?) where head.status >= 300: .response(head, body: body)
      case .failed(let failure, _): .failure(failure)
      }
  }
}
