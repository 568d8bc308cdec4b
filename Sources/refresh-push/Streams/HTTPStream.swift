import Glibc
import HTTP

/// One GET whose answer goes on for as long as the server will, with the redirects on its way.
///
/// The redirects are followed here, because what logs in stays with the first origin.
@MainActor
final class HTTPStream {
  /// What is asked.
  struct Question {
    var url: String
    /// Header fields for whoever answers.
    var headers: [String] = []
    /// Header fields for the first origin only, which may hold secrets.
    var ownHeaders: [String] = []
    var login = HTTPRequest.Login.none
    var caFile: String?
    var silence: Duration?
  }

  /// How it ended.
  enum End {
    /// With the end of the answer that was wanted, or because no more of it is.
    case closed
    /// With an answer that was not.
    case refused(ResponseHead, host: String)
    /// There is no answer, or no more of it.
    case failed(ExchangeFailure)
  }

  private let loop: ExchangeLoop
  private let question: Question
  private var redirects: Redirects
  private var exchange: Exchange?
  /// Whether the answer that came last is the one that is wanted.
  private var isWanted = false
  /// Whether the answer is the one that is wanted.
  var onHead: (ResponseHead) -> Bool = { _ in false }
  /// Takes a part of it; with `paused` it has the same again after ``resume()``.
  var onBytes: (UnsafeRawBufferPointer) -> Exchange.Use = { _ in .taken }
  /// Called once, last, unless it is cancelled.
  var onEnd: (End) -> Void = { _ in }

  /// Throws for what is no URL, or a file of certificates that cannot be read.
  init(_ question: Question, in loop: ExchangeLoop) throws(ExchangeFailure) {
    guard let address = WebAddress(question.url) else {
      throw ExchangeFailure(kind: .permanent, message: "cannot read the url; correct it in push.toml")
    }
    if let file = question.caFile, access(file, R_OK) != 0 {
      throw ExchangeFailure(
        kind: .permanent, message: "cannot read the ca_file \(file): \(String(cString: strerror(errno)))")
    }
    (self.question, self.loop, redirects) = (question, loop, Redirects(from: address))
  }

  /// Asks.
  func start() throws(ExchangeFailure) {
    isWanted = false
    var request = HTTPRequest(url: redirects.here.text, headers: question.headers)
    request.stream = HTTPRequest.Stream(silence: question.silence)
    request.caFile = question.caFile
    if redirects.isAtFirstOrigin {
      request.headers += question.ownHeaders
      request.login = question.login
      if case .none = question.login { request.login = redirects.login }
    }
    let exchange = Exchange(request)
    exchange.onHead = { [unowned self] head in
      isWanted = onHead(head)
      return isWanted
    }
    exchange.onBody = { [unowned self] in onBytes($0) }
    exchange.onEnd = { [unowned self] in takeEnd($0) }
    self.exchange = exchange
    try loop.start(exchange)
  }

  /// Lets go of it at once; nothing is called any more.
  ///
  /// Not out of what it calls, except `onEnd`.
  func cancel() {
    if let exchange { loop.cancel(exchange) }
    exchange = nil
  }

  /// Goes on with what was not taken.
  func resume() {
    if let exchange { loop.resume(exchange) }
  }

  private func takeEnd(_ end: Exchange.End) {
    let host = exchange?.host ?? redirects.here.host
    exchange = nil
    switch end {
    case .whole(let head), .stopped(let head): settle(head, host)
    // What is not wanted has said all with its head.
    case .failed(_, let head?) where !isWanted: settle(head, host)
    case .failed(let failure, _): onEnd(.failed(failure))
    }
  }

  private func settle(_ head: ResponseHead, _ host: String) {
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
  /// Why there is no stream, for a person and without secrets, and when to try again.
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
    case 401: return ("cannot log in to \(host): \(status); correct the credential_file", .longest)
    case 403:
      return (
        "\(host) does not let this be read: \(status); correct the credential_file, or the rights there", .longest
      )
    case 407: return ("cannot log in to the proxy: \(status); give its user and password in its URL", .longest)
    // What asks too often asks a good deal later.
    case 429: return ("\(host) is asked too often: \(status)", .notBefore(pause ?? .seconds(60)))
    case 408, 425, 500...599: return ("\(host) has trouble: \(status)", pause.map(NextTry.notBefore) ?? .backOff)
    default: return ("\(host) has no such stream: \(status); correct the url", .longest)
    }
  }
}
