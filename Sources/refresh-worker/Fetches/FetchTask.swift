import CLinux
import Glibc
import HTTP
import RefreshAPI
import Varlink

/// The built-in task `http`: fetches a URL into a file, and reports the result and the validators to the daemon.
enum FetchTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.FetchOrder.self) { order, context in
      let terminated = linux_signal_descriptor(SIGTERM)
      do throws(TaskFailure) {
        guard let result = try ConditionalFetch(order).run(until: terminated) else { return EX_TEMPFAIL }
        if let remembered = result.remembered { context.remember(remembered, of: order.url) }
        return context.end(result)
      } catch {
        return context.end(TaskResult(error))
      }
    }
  }
}

/// A conditional GET into a file, with its redirects.
///
/// This class follows the redirects, because credentials and the app's header fields are for the first origin only.
/// libcurl would send the header fields to every host.
final class ConditionalFetch {
  private let order: Wire.FetchOrder
  private let target: FetchTarget
  private let loop: ExchangeLoop
  private let login: HTTPRequest.Login
  private let ownHeaders: [String]
  /// The conditions of the last request.
  private var conditions: [String] = []

  private var redirects: Redirects
  /// Whether the next request must be sent.
  private var mustSend = true
  private var body: FetchBody?
  private var failure: TaskFailure?
  private var result: TaskResult?

  /// Reads the files that the order names; sends nothing yet.
  init(_ order: Wire.FetchOrder) throws(TaskFailure) {
    self.order = order
    guard let address = WebAddress(order.url) else {
      throw TaskFailure(.failed, "cannot read the URL; correct it in the app's file")
    }
    redirects = Redirects(from: address)
    target = try FetchTarget(path: order.to)
    do throws(ExchangeFailure) {
      let lines =
        try order.headersFile.map { (path) throws(ExchangeFailure) in try PrivateFile.headers(in: path) } ?? []
      // The fetch decodes only gzip, and sets this field itself.
      ownHeaders = lines.filter { !$0.lowercased().hasPrefix("accept-encoding:") }
      login = try Self.login(order)
      loop = try ExchangeLoop()
    } catch {
      throw TaskFailure(error)
    }
  }

  /// Fetches; returns nil if the descriptor `terminated` became readable before the end.
  ///
  /// The part file is removed then.
  func run(until terminated: Int32) -> TaskResult? {
    while result == nil {
      if mustSend {
        mustSend = false
        send()
      } else if loop.turn(watching: [terminated], timeout: nil).contains(terminated) {
        body?.part.remove()
        return nil
      }
    }
    return result
  }

  private static func login(_ order: Wire.FetchOrder) throws(ExchangeFailure) -> HTTPRequest.Login {
    if let path = order.credentialFile { return try PrivateFile.login(in: path) }
    return order.netrc ? try PrivateFile.netrc() : .none
  }

  /// The conditions of a request to a URL: the validators of the last response, if that URL gave it and its content is still
  /// in the file.
  ///
  /// The validators of one URL say nothing about the content of another, to which a redirect may lead today.
  static func conditions(
    _ remembered: Wire.FetchOrder.Remembered?, content: FetchTarget.Content?, of url: String
  ) -> [String] {
    guard let remembered, let content, remembered.digest == content.digest, remembered.url == url else { return [] }
    return [
      remembered.etag.map { "If-None-Match: \($0)" }, remembered.lastModified.map { "If-Modified-Since: \($0)" },
    ].compactMap(\.self)
  }

  private func send() {
    var request = HTTPRequest(url: redirects.here.text)
    request.takesCompressed = true
    conditions = Self.conditions(order.remembered, content: target.content, of: redirects.here.text)
    request.headers = conditions
    if redirects.isAtFirstOrigin {
      request.headers += ownHeaders
      request.login = login
      if case .none = login { request.login = redirects.login }
    }
    let exchange = Exchange(request)
    exchange.onHead = { [unowned self] in wantsBody(of: $0) }
    exchange.onBody = { [unowned self] in append($0) }
    exchange.onEnd = { [unowned self] in receiveEnd($0) }
    do throws(ExchangeFailure) { try loop.start(exchange) } catch { result = TaskResult(TaskFailure(error)) }
  }

  private func wantsBody(of head: ResponseHead) -> Bool {
    guard FetchAnswer(head) == .content else { return false }
    do throws(TaskFailure) {
      body = try FetchBody(target, head, most: order.mostBytes)
      return true
    } catch {
      failure = error
      return false
    }
  }

  private func append(_ bytes: UnsafeRawBufferPointer) -> Exchange.BodyUse {
    do throws(TaskFailure) {
      try body?.append(bytes)
      return .consumed
    } catch {
      failure = error
      return .ended
    }
  }

  private func receiveEnd(_ end: Exchange.End) {
    switch end {
    case _ where failure != nil:
      if let failure { fail(failure) }
    case .whole(let head), .stopped(let head):
      conclude(head)
    case .unmarked(let head) where FetchAnswer(head) == .content:
      fail(TaskFailure(.wrong, TaskFailure.noEnd))
    case .unmarked(let head):
      conclude(head)
    // Without content the head is all that matters.
    case .failed(_, let head?) where FetchAnswer(head) != .content:
      conclude(head)
    case .failed(let failure, _):
      fail(TaskFailure(failure))
    }
  }

  private func conclude(_ head: ResponseHead) {
    switch FetchAnswer(head) {
    case .content:
      do throws(TaskFailure) { try keep(head) } catch { fail(error) }
    case .same where head.status == 304 && conditions.isEmpty:
      fail(TaskFailure(.failed, "HTTP status 304, although the request was not conditional"))
    case .same:
      result = TaskResult(
        .noData, head.status == 304 ? "not modified" : "no content", freshFor: ResponseFreshness.remaining(of: head))
    case .elsewhere(let location):
      do throws(ExchangeFailure) {
        try redirects.follow(location)
        mustSend = true
      } catch {
        fail(TaskFailure(error))
      }
    case .none(let isTemporary):
      result = TaskResult(refusedBy: head, isTemporary: isTemporary, at: HTTPDate.now())
    }
  }

  /// Replaces the file by the body, unless both are the same.
  private func keep(_ head: ResponseHead) throws(TaskFailure) {
    guard let body else { throw TaskFailure(.retry(after: nil), "cannot find the downloaded file") }
    let url = redirects.here.text
    let remembered = Wire.FetchOrder.Remembered(
      url: url.utf8.count <= WebAddress.longest ? url : nil, etag: head.validator("etag"),
      lastModified: head.validator("last-modified"), digest: try body.finish())
    let changes = remembered == order.remembered ? nil : remembered
    let freshFor = ResponseFreshness.remaining(of: head)
    guard remembered.digest != target.content?.digest else {
      body.part.remove()
      result = TaskResult(.noData, "the same content", freshFor: freshFor, remembered: changes)
      return
    }
    try target.replace(by: body.part)
    result = TaskResult(.newData, "\(body.part.length) bytes", freshFor: freshFor, remembered: changes)
  }

  private func fail(_ failure: TaskFailure) {
    body?.part.remove()
    result = TaskResult(failure)
  }
}

/// The meaning of a response to a conditional GET (RFC 9110 section 15).
enum FetchAnswer: Hashable {
  /// The content follows.
  case content
  /// Nothing is new.
  case same
  /// A redirect to the value of `Location`.
  case elsewhere(String)
  /// No content; whether a retry may bring some.
  case none(isTemporary: Bool)

  init(_ head: ResponseHead) {
    switch head.status {
    case 200, 203: self = .content
    // 204 has no content that could replace the file.
    case 204, 304: self = .same
    case 301, 302, 303, 307, 308:
      if let location = head["location"] { self = .elsewhere(location) } else { self = .none(isTemporary: false) }
    case 408, 425, 429, 500...599: self = .none(isTemporary: true)
    default: self = .none(isTemporary: false)
    }
  }
}

/// The freshness lifetime of a response (RFC 9111 section 4.2).
enum ResponseFreshness {
  /// The longest lifetime that is believed.
  static let longest = Duration.seconds(24 * 3600)

  /// The remaining lifetime; nil if the response declares no lifetime or forbids reuse.
  ///
  /// `max-age` overrides `Expires`, and `Age`, the time in caches, is subtracted.
  static func remaining(of head: ResponseHead) -> Duration? {
    let directives = head.list("cache-control").map { $0.lowercased() }
    guard !directives.contains(where: { ["no-cache", "no-store"].contains(name(of: $0)) }) else { return nil }
    let lifetime: Int64?
    if let directive = directives.first(where: { name(of: $0) == "max-age" }) {
      lifetime = seconds(directive.drop { $0 != "=" }.dropFirst())
    } else if let expires = head["expires"].flatMap(HTTPDate.seconds), let date = head["date"].flatMap(HTTPDate.seconds)
    {
      lifetime = expires - date
    } else {
      lifetime = nil
    }
    guard let lifetime, lifetime > 0 else { return nil }
    let left = lifetime - (head["age"].flatMap { seconds($0[...]) } ?? 0)
    return left > 0 ? min(.seconds(left), longest) : nil
  }

  /// The name of a directive such as `max-age=60`.
  private static func name(of directive: String) -> Substring { directive.prefix { $0 != "=" } }

  /// Parses seconds, which some servers put in quotes; a number that is too large becomes the maximum.
  private static func seconds(_ text: Substring) -> Int64? {
    let digits = text.count >= 2 && text.first == "\"" && text.last == "\"" ? text.dropFirst().dropLast() : text
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int64(digits) ?? .max
  }
}
