import HTTP
import RefreshAPI

/// One conditional GET into a file, with the redirects on its way (FEATURES C8).
///
/// The redirects are followed here, because what logs in stays with the first origin: also header fields of the app,
/// which libcurl would send to every host.
final class Fetching {
  private let order: Wire.FetchOrder
  private let target: FetchTarget
  private let loop: ExchangeLoop
  private let login: HTTPRequest.Login
  private let ownHeaders: [String]
  private let conditions: [String]

  private var redirects: Redirects
  /// Whether somebody is to be asked.
  private var isToAsk = true
  private var body: FetchBody?
  private var trouble: Trouble?
  private var result: TaskResult?

  /// Reads what the order names; asks nobody yet.
  init(_ order: Wire.FetchOrder) throws(Trouble) {
    self.order = order
    guard let address = WebAddress(order.url) else {
      throw Trouble(.failed, "cannot read the URL; correct it in the app's file")
    }
    redirects = Redirects(from: address)
    target = try FetchTarget(path: order.to)
    conditions = Self.conditions(order.remembered, content: target.content)
    do throws(ExchangeFailure) {
      ownHeaders =
        try order.headersFile.map { (path) throws(ExchangeFailure) in try PrivateFile.headers(in: path) } ?? []
      login = try Self.login(order)
      loop = try ExchangeLoop()
    } catch {
      throw Trouble(error)
    }
  }

  /// Fetches; nil if the descriptor `terminated` became readable before the end.
  ///
  /// Nothing half is left then.
  func run(until terminated: Int32) -> TaskResult? {
    while result == nil {
      if isToAsk {
        isToAsk = false
        ask()
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

  /// What is asked beside the content: only for what has changed, if what came last is still there as it came.
  static func conditions(_ remembered: Wire.FetchOrder.Remembered?, content: FetchTarget.Content?) -> [String] {
    guard let remembered, let content, remembered.digest == content.digest else { return [] }
    return [
      remembered.etag.map { "If-None-Match: \($0)" }, remembered.lastModified.map { "If-Modified-Since: \($0)" },
    ].compactMap(\.self)
  }

  private func ask() {
    var request = HTTPRequest(url: redirects.here.text)
    request.takesCompressed = true
    request.headers = conditions
    if redirects.isAtFirstOrigin {
      request.headers += ownHeaders
      request.login = login
      if case .none = login { request.login = redirects.login }
    }
    let exchange = Exchange(request)
    exchange.onHead = { [unowned self] in wantsBody(of: $0) }
    exchange.onBody = { [unowned self] in take($0) }
    exchange.onEnd = { [unowned self] in takeEnd($0) }
    do throws(ExchangeFailure) { try loop.start(exchange) } catch { result = TaskResult(Trouble(error)) }
  }

  private func wantsBody(of head: ResponseHead) -> Bool {
    guard FetchAnswer(head) == .content else { return false }
    do throws(Trouble) {
      body = try FetchBody(target, most: order.mostBytes, announced: head.decodedLength)
      return true
    } catch {
      trouble = error
      return false
    }
  }

  private func take(_ bytes: UnsafeRawBufferPointer) -> Exchange.Use {
    do throws(Trouble) {
      try body?.append(bytes)
      return .taken
    } catch {
      trouble = error
      return .ended
    }
  }

  private func takeEnd(_ end: Exchange.End) {
    switch end {
    case _ where trouble != nil:
      if let trouble { fail(trouble) }
    case .whole(let head), .stopped(let head):
      settle(head)
    // What is no content has said all with its head.
    case .failed(_, let head?) where FetchAnswer(head) != .content:
      settle(head)
    case .failed(let failure, _):
      fail(Trouble(failure))
    }
  }

  private func settle(_ head: ResponseHead) {
    switch FetchAnswer(head) {
    case .content:
      do throws(Trouble) { try keep(head) } catch { fail(error) }
    case .same where head.status == 304 && conditions.isEmpty:
      fail(Trouble(.failed, "HTTP status 304, although nobody asked for changes only"))
    case .same:
      result = TaskResult(
        .noData, head.status == 304 ? "not modified" : "no content", freshFor: Freshness.remaining(of: head))
    case .elsewhere(let place):
      do throws(ExchangeFailure) {
        try redirects.follow(place)
        isToAsk = true
      } catch {
        fail(Trouble(error))
      }
    case .none(let isTemporary):
      result = TaskResult(refusedBy: head, isTemporary: isTemporary, at: HTTPDate.now())
    }
  }

  /// Puts the body in its place, unless it is what is there.
  private func keep(_ head: ResponseHead) throws(Trouble) {
    guard let body else { throw Trouble(.retry(after: nil), "cannot find what came") }
    let remembered = Wire.FetchOrder.Remembered(
      etag: head.validator("etag"), lastModified: head.validator("last-modified"), digest: body.digest.finish())
    let changes = remembered == order.remembered ? nil : remembered
    let freshFor = Freshness.remaining(of: head)
    guard remembered.digest != target.content?.digest else {
      body.part.remove()
      result = TaskResult(.noData, "the same content", freshFor: freshFor, remembered: changes)
      return
    }
    try target.replace(by: body.part)
    result = TaskResult(.newData, "\(body.part.length) bytes", freshFor: freshFor, remembered: changes)
  }

  private func fail(_ trouble: Trouble) {
    body?.part.remove()
    result = TaskResult(trouble)
  }
}
