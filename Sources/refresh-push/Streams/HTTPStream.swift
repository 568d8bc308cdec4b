import Glibc
import HTTP

/// A GET request with an endless response body, including redirects.
///
/// This class follows redirects itself, so that credentials go only to the first origin.
@MainActor
final class HTTPStream {
  struct Request {
    var url: String
    /// Header fields for every origin.
    var headers: [String] = []
    /// Header fields for the first origin only, which may hold secrets.
    var ownHeaders: [String] = []
    var login = HTTPRequest.Login.none
    var caFile: String?
    var silence: Duration?
  }

  /// The most bytes of a stream in a second; the rest waits at the server.
  ///
  /// All streams share one thread. A server that sends as fast as it can would keep the others waiting.
  private static let mostBytesInSecond: Int64 = 1 << 20

  /// The ways a stream ends.
  enum End {
    /// The server or the caller ended the wanted response.
    case closed
    /// The caller did not want the response.
    case refused(ResponseHead, host: String)
    /// The request failed, or the response broke off.
    case failed(ExchangeFailure)
  }

  private let loop: ExchangeLoop
  private let request: Request
  private var redirects: Redirects
  private var exchange: Exchange?
  /// Whether the caller wants the last response.
  private var isWanted = false
  /// Decides whether the caller wants a response.
  var onHead: (ResponseHead) -> Bool = { _ in false }
  /// Receives a part of the body.
  ///
  /// After `paused` the same part comes again at ``resume()``.
  var onBytes: (UnsafeRawBufferPointer) -> Exchange.BodyUse = { _ in .consumed }
  /// Called once, last, unless the stream is cancelled.
  var onEnd: (End) -> Void = { _ in }

  /// Throws for an invalid URL or an unreadable file of certificates.
  init(_ request: Request, in loop: ExchangeLoop) throws(ExchangeFailure) {
    guard let address = WebAddress(request.url) else {
      throw ExchangeFailure(kind: .permanent, message: "cannot read the url; correct it in push.toml")
    }
    if let file = request.caFile { try PlainFile.check(file) }
    (self.request, self.loop, redirects) = (request, loop, Redirects(from: address))
  }

  /// Sends the request.
  func start() throws(ExchangeFailure) {
    isWanted = false
    var attempt = HTTPRequest(url: redirects.here.text, headers: request.headers)
    attempt.headers.append("Accept-Encoding: identity")
    attempt.stream = HTTPRequest.StreamLimits(silence: request.silence)
    attempt.maxRate = Self.mostBytesInSecond
    attempt.caFile = request.caFile
    if redirects.isAtFirstOrigin {
      attempt.headers += request.ownHeaders
      attempt.login = request.login
      if case .none = request.login { attempt.login = redirects.login }
    }
    let exchange = Exchange(attempt)
    exchange.onHead = { [unowned self] head in
      isWanted = head.encoding == nil && onHead(head)
      return isWanted
    }
    exchange.onBody = { [unowned self] in onBytes($0) }
    exchange.onEnd = { [unowned self] in receiveEnd($0) }
    self.exchange = exchange
    try loop.start(exchange)
  }

  /// Ends the stream at once, without further callbacks.
  ///
  /// Of the callbacks, only `onEnd` may call this.
  func cancel() {
    if let exchange { loop.cancel(exchange) }
    exchange = nil
  }

  /// Continues after `paused`.
  func resume() {
    if let exchange { loop.resume(exchange) }
  }

  private func receiveEnd(_ end: Exchange.End) {
    let host = exchange?.host ?? redirects.here.host
    exchange = nil
    switch end {
    case .whole(let head), .unmarked(let head), .stopped(let head): conclude(head, host)
    // The head is enough for a response that the caller does not want.
    case .failed(_, let head?) where !isWanted: conclude(head, host)
    case .failed(let failure, _): onEnd(.failed(failure))
    }
  }

  private func conclude(_ head: ResponseHead, _ host: String) {
    if isWanted {
      onEnd(.closed)
    } else if [301, 302, 303, 307, 308].contains(head.status), let location = head["location"] {
      do throws(ExchangeFailure) {
        try redirects.follow(location)
        try start()
      } catch {
        onEnd(.failed(error))
      }
    } else {
      onEnd(.refused(head, host: host))
    }
  }
}

extension HTTPStream.End {
  /// The status of a response that the caller did not want; nil for another end.
  var status: Int? { if case .refused(let head, _) = self { head.status } else { nil } }

  /// The reason for a person, without secrets, and the time of the next try.
  var loss: (why: String, next: NextTry) {
    switch self {
    case .closed: ("the server has ended the connection", .backOff)
    case .failed(let failure): (failure.message, failure.kind == .permanent ? .longest : .backOff)
    case .refused(let head, let host): Self.loss(head, host)
    }
  }

  private static func loss(_ head: ResponseHead, _ host: String) -> (String, NextTry) {
    let status = "HTTP status \(head.status)"
    let pause = head.retryAfter(now: HTTPDate.now())
    switch head.status {
    case 200 where head.encoding != nil:
      return (
        "\(host) sends the encoding \(head.encoding ?? ""), although it may not; switch compression off for this url there",
        .backOff
      )
    case 401: return ("cannot log in to \(host): \(status); correct the credential_file", .longest)
    case 403:
      return (
        "\(host) refuses access: \(status); correct the credential_file, or the rights there", .longest
      )
    case 407: return ("cannot log in to the proxy: \(status); give its user and password in its URL", .longest)
    // A server that limits requests gets a long pause by default.
    case 429: return ("\(host) gets too many requests: \(status)", .notBefore(pause ?? .seconds(60)))
    case 408, 425, 500...599: return ("\(host) has trouble: \(status)", pause.map(NextTry.notBefore) ?? .backOff)
    default: return ("\(host) has no such stream: \(status); correct the url", .longest)
    }
  }
}

extension ResponseHead {
  /// The encoding of the body, although the request does not accept any; nil for a plain body.
  var encoding: String? {
    let name = list("content-encoding").first { $0.lowercased() != "identity" }
    return name.map { String($0.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }.prefix(16)) }
  }
}
