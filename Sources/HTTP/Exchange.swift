import CCurl
import Glibc

/// A request and its response, on libcurl; an ``ExchangeLoop`` runs it.
///
/// Make an exchange, set its handlers, and start it:
///
///     let exchange = Exchange(HTTPRequest(url: url))
///     exchange.onHead = { head in head.status == 200 }
///     exchange.onBody = { bytes in file.append(bytes) ? .consumed : .ended }
///     exchange.onEnd = { end in … }
///     loop.start(exchange)
///     while loop.isBusy { loop.turn(watching: [], timeout: nil) }
///
/// The exchange calls `onHead` once, for the final response (after authentication), before the body or if there is none.
/// For an endless response it calls `onHead` as soon as the head is complete. It calls `onEnd` once, last, from
/// ``ExchangeLoop/turn(watching:timeout:)``, unless the caller cancels the exchange. The handlers are released then.
package final class Exchange {
  /// The result of a handler that was given a part of the body.
  package enum BodyUse {
    /// The handler consumed the bytes.
    case consumed
    /// The handler could not consume the bytes; it gets them again after ``ExchangeLoop/resume(_:)``.
    case paused
    /// The handler wants no more; the exchange ends with ``End/stopped(_:)``.
    case ended
  }

  /// The result of a handler that supplies the request's body.
  package enum Filling {
    /// The handler filled this many bytes of the buffer; 0 is the end of the body.
    case bytes(Int)
    /// The handler has no bytes yet; it is called again after ``ExchangeLoop/resume(_:)``.
    case paused
    /// The handler cannot read the body; the exchange ends.
    case broken
  }

  /// How the exchange ended.
  package enum End {
    /// The whole response arrived.
    case whole(ResponseHead)
    /// The connection ended the body, and nothing else marks its end, so that it may have been cut.
    case unmarked(ResponseHead)
    /// The exchange failed; the head is set if it arrived before, and `onHead` was called for it.
    case failed(ExchangeFailure, ResponseHead?)
    /// A handler wanted no more.
    case stopped(ResponseHead)
  }

  /// The request that is sent.
  package let request: HTTPRequest
  /// Called with the head; if it returns false, the exchange ends with ``End/stopped(_:)`` before the body.
  package var onHead: (ResponseHead) -> Bool = { _ in true }
  /// Called with each part of the response's body.
  package var onBody: (UnsafeRawBufferPointer) -> BodyUse = { _ in .consumed }
  /// Called once, last.
  package var onEnd: (End) -> Void = { _ in }
  /// Called to fill a buffer with the next part of the request's body.
  package var fill: (UnsafeMutableRawBufferPointer) -> Filling = { _ in .broken }
  /// Called to send the request's body again from this byte on; returns false if the caller cannot.
  package var rewind: (Int64) -> Bool = { _ in false }

  /// libcurl's handle, while the exchange runs.
  private(set) var handle: UnsafeMutableRawPointer?
  /// When a byte was last received or sent.
  private(set) var lastProgress = ContinuousClock.now
  private(set) var isPaused = false
  private var pace: Pace
  private var isPaced = false
  private var reader = HeadReader()
  private var isHeadReported = false
  private var isStopped = false
  /// How many bytes of the request's body libcurl has taken.
  private var handedOver: Int64 = 0
  var lines: UnsafeMutablePointer<curl_slist>?
  /// libcurl's buffer for an error message.
  let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Makes an exchange, which ``ExchangeLoop/start(_:)`` starts.
  package init(_ request: HTTPRequest) {
    self.request = request
    pace = Pace(rate: request.maxRate)
    errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    close()
    errorText.deallocate()
  }

  /// The host of the request, for messages.
  package var host: String { WebAddress(request.url)?.host ?? "the server" }

  /// Whether the protocol marks the end of a body that has no length: HTTP/2 does.
  private var endsAreExplicit: Bool {
    var version = 0
    guard let handle, curl_get_long(handle, CURLINFO_HTTP_VERSION, &version) == CURLE_OK else { return false }
    return version >= Int(CURL_HTTP_VERSION_2_0)
  }

  /// Whether the server may have received a part of the request.
  package var wasSent: Bool {
    var bytes = 0
    guard let handle, curl_get_long(handle, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK else { return false }
    return bytes > 0
  }

  /// How many bytes of the body were sent in the last attempt.
  package var uploaded: Int64 {
    var bytes = 0
    guard let handle, curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &bytes) == CURLE_OK else { return 0 }
    return Int64(bytes)
  }

  /// Changes the limit on bytes a second, also of a running exchange.
  package func limit(to rate: Int64?) { pace.change(to: rate, at: .now) }

  // MARK: For the loop

  /// Makes the handle; nil when the process has no memory left.
  func open() -> UnsafeMutableRawPointer? {
    guard handle == nil, let handle = curl_easy_init() else { return handle }
    self.handle = handle
    lastProgress = .now
    (reader, isHeadReported) = (HeadReader(), false)
    setOptions(of: handle)
    setCallbacks(of: handle)
    return handle
  }

  func close() {
    if let handle { curl_easy_cleanup(handle) }
    handle = nil
    curl_slist_free_all(lines)
    lines = nil
  }

  /// Reports the end to `onEnd` and releases the handlers.
  func finish(_ code: CURLcode) {
    guard handle != nil else { return }
    let head = judgedHead(code)
    // The response has no body, or the connection broke before the body.
    if let head, reader.flaw == nil, !isHeadReported, !report(head) { isStopped = true }
    let end: End =
      if let flaw = reader.flaw {
        .failed(.unusable(flaw, of: host), head)
      } else if let head, isStopped {
        .stopped(head)
      } else if let head, code == CURLE_OK {
        head.marksEnd || endsAreExplicit || request.method == .head ? .whole(head) : .unmarked(head)
      } else {
        .failed(
          ExchangeFailure(
            code: code, detail: String(cString: errorText), host: host, isReading: wasSent && !reader.isWhole),
          head)
      }
    let handler = onEnd
    dropHandlers()
    handler(end)
    close()
  }

  func fail(_ failure: ExchangeFailure) {
    let head = judgedHead(CURLE_OPERATION_TIMEDOUT)
    let handler = onEnd
    dropHandlers()
    handler(.failed(failure, head))
    close()
  }

  /// The head of the final response; nil if the exchange broke after an interim head, or within a head.
  ///
  /// libcurl follows interim heads by itself, and handlers never see them.
  private func judgedHead(_ code: CURLcode) -> ResponseHead? {
    guard code != CURLE_OK, !isHeadReported, let head = reader.head else { return reader.head }
    guard reader.isWhole else { return nil }
    let isFollowed =
      switch head.status {
      case 100..<200: true
      case 401: request.hasLogin
      // Only libcurl knows whether there is a password for the proxy.
      case 407: true
      default: false
      }
    return isFollowed ? nil : head
  }

  func dropHandlers() {
    onHead = { _ in true }
    onBody = { _ in .consumed }
    onEnd = { _ in }
    fill = { _ in .broken }
    rewind = { _ in false }
  }

  /// Delivers the bytes that were held back; returns libcurl's error if a handler ended the exchange.
  func resume() -> CURLcode {
    guard isPaused || isPaced, let handle else { return CURLE_OK }
    isPaused = false
    isPaced = false
    lastProgress = .now
    return curl_easy_pause(handle, CURLPAUSE_CONT)
  }

  /// When the loop must check this exchange even if nothing is received or sent; nil for never.
  var alarm: ContinuousClock.Instant? {
    if isPaused { return nil }
    return isPaced ? pace.opens(after: .now) ?? .now : patience.map { lastProgress + $0 }
  }

  /// The action that is due at the alarm.
  func actionDue(at now: ContinuousClock.Instant) -> Action? {
    if isPaused { return nil }
    if isPaced { return pace.opens(after: now) == nil ? .resume : nil }
    return patience.map { lastProgress + $0 <= now } == true ? .end : nil
  }

  /// How long nothing may be received or sent; nil for any time.
  ///
  /// The limit is ten times longer after the whole body was sent: a server may work on it for long, and a retry would
  /// only send the same body again.
  var patience: Duration? {
    if let stream = request.stream, reader.isFinal { return stream.silence }
    let isAnswerDue = request.bodyLength.map { $0 > 0 && handedOver >= $0 } == true && !reader.isFinal
    return isAnswerDue ? request.answerTime ?? request.stall * 10 : request.stall
  }

  enum Action {
    case resume
    case end
  }

  // MARK: For libcurl

  /// Receives a line of a head; returns false to end the exchange.
  func receiveHeader(_ line: Substring) -> Bool {
    lastProgress = .now
    // A trailer belongs to no handler.
    guard !isHeadReported else { return true }
    // A stream has no declared end that could be wrong.
    reader.read(line, mindsLength: request.stream == nil && request.method != .head)
    guard reader.flaw == nil else { return false }
    // The body of a stream may begin hours later, so the head is reported now.
    guard request.stream != nil, reader.isWhole, let head = reader.head, head.status == 200 else { return true }
    isStopped = !report(head)
    return !isStopped
  }

  func receiveBody(_ bytes: UnsafeRawBufferPointer) -> BodyUse {
    let now = ContinuousClock.now
    lastProgress = now
    guard let head = reader.head else { return .ended }
    guard pace.opens(after: now) == nil else {
      isPaced = true
      return .paused
    }
    let use = isHeadReported || report(head) ? onBody(bytes) : .ended
    if use == .consumed { pace.consume(bytes.count, at: now) }
    isPaused = use == .paused
    isStopped = use == .ended
    return use
  }

  func supplyBody(_ room: UnsafeMutableRawBufferPointer) -> Filling {
    let now = ContinuousClock.now
    lastProgress = now
    guard pace.opens(after: now) == nil else {
      isPaced = true
      return .paused
    }
    let filling = fill(UnsafeMutableRawBufferPointer(rebasing: room.prefix(pace.portion(of: room.count))))
    switch filling {
    case .bytes(let count):
      handedOver += Int64(count)
      pace.consume(count, at: now)
    case .paused: isPaused = true
    case .broken: break
    }
    return filling
  }

  func rewindBody(to offset: Int64) -> Bool {
    handedOver = offset
    return rewind(offset)
  }

  /// Shrinks the socket's receive buffer of a slow exchange, because buffered bytes are lost when the exchange ends.
  func shrinkBuffer(of socket: Int32) {
    guard let rate = pace.rate, rate < 4 << 20 else { return }
    var size = Int32(max(rate / 8, 32 << 10))
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
  }

  private func report(_ head: ResponseHead) -> Bool {
    isHeadReported = true
    return onHead(head)
  }
}

/// A rate limit: each byte costs time, and no byte may pass before the earlier ones are paid.
///
/// libcurl's own limit checks the rate once a second, and a fast server has sent all of a small file by then.
struct Pace: Hashable, Sendable {
  /// The rate in bytes a second; nil for no limit.
  private(set) var rate: Int64?
  /// When the bytes so far are paid.
  private var paidAt: ContinuousClock.Instant?
  /// The unused time that may be made up for, because poll(2) wakes on whole milliseconds only.
  private static let slack = Duration.milliseconds(50)

  init(rate: Int64?) { self.rate = rate }

  /// When the next bytes may pass; nil for at once.
  func opens(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
    guard rate != nil, let paidAt, paidAt > now else { return nil }
    return paidAt
  }

  /// Changes the rate; the remaining debt is paid at the new rate.
  mutating func change(to rate: Int64?, at now: ContinuousClock.Instant) {
    if let old = self.rate, let rate, rate > 0, let paidAt, paidAt > now {
      self.paidAt = now + now.duration(to: paidAt) * (Double(old) / Double(rate))
    }
    self.rate = rate
  }

  /// How many of `count` bytes may pass at once: at most a quarter of a second's, so that they pass evenly.
  func portion(of count: Int) -> Int {
    guard let rate else { return count }
    return min(count, Int(clamping: max(rate / 4, 1)))
  }

  /// Lets `count` bytes pass and charges their time.
  mutating func consume(_ count: Int, at now: ContinuousClock.Instant) {
    guard let rate, rate > 0 else { return }
    paidAt = max(paidAt ?? now, now - Self.slack) + .seconds(count) / rate
  }
}
