import CCurl
import Glibc

/// One request and its answer, on libcurl; an ``ExchangeLoop`` carries it out.
///
/// Make one, set what is to be called, and start it:
///
///     let exchange = Exchange(HTTPRequest(url: url))
///     exchange.onHead = { head in head.status == 200 }
///     exchange.onBody = { bytes in file.append(bytes) ? .taken : .ended }
///     exchange.onEnd = { end in … }
///     loop.start(exchange)
///     while loop.isBusy { loop.turn(watching: [], timeout: nil) }
///
/// `onHead` is called once, for the answer that counts (after logins), before its body and also if it has
/// none; for one that goes on for ever, as soon as the head is whole. `onEnd` is called once, last, out of ``ExchangeLoop/turn(watching:timeout:)``, unless the exchange is cancelled.
/// What is called keeps the exchange alive only until then.
package final class Exchange {
  /// What is done with a part of the body.
  package enum Use {
    /// Go on.
    case taken
    /// It is handed over again after ``ExchangeLoop/resume(_:)``.
    case paused
    /// No more is wanted; the exchange ends with ``End/stopped(_:)``.
    case ended
  }

  /// What is there of the body that is sent.
  package enum Filling {
    /// So many bytes of the room are filled.
    case bytes(Int)
    /// It is asked for again after ``ExchangeLoop/resume(_:)``.
    case paused
    /// The body cannot be had; the exchange ends.
    case broken
  }

  /// How it ended.
  package enum End {
    /// The whole answer is there.
    case whole(ResponseHead)
    /// It is not; the head is there if it had come, and `onHead` has been called for it.
    case failed(ExchangeFailure, ResponseHead?)
    /// What was called wanted no more.
    case stopped(ResponseHead)
  }

  /// What is asked for.
  package let request: HTTPRequest
  /// Whether the body is wanted; if not, the exchange ends with ``End/stopped(_:)``.
  package var onHead: (ResponseHead) -> Bool = { _ in true }
  /// What is done with each part of the body.
  package var onBody: (UnsafeRawBufferPointer) -> Use = { _ in .taken }
  /// How it ended: called once, last.
  package var onEnd: (End) -> Void = { _ in }
  /// Fills a part of the body that is sent.
  package var fill: (UnsafeMutableRawBufferPointer) -> Filling = { _ in .broken }
  /// The body is sent again from this byte on; false if that cannot be.
  package var rewind: (Int64) -> Bool = { _ in false }

  /// libcurl's handle, while the exchange goes on.
  private(set) var handle: UnsafeMutableRawPointer?
  /// When something last came or went.
  private(set) var lastProgress = ContinuousClock.now
  private(set) var isPaused = false
  private var pace: Pace
  private var isPaced = false
  private var head: ResponseHead?
  private var isHeadTold = false
  private var isStopped = false
  /// How many bytes of the body that is sent libcurl has.
  private var handedOver: Int64 = 0
  var lines: UnsafeMutablePointer<curl_slist>?
  /// Where libcurl writes what went wrong.
  let trouble = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))

  /// Makes one of what is asked for; nobody is asked before ``ExchangeLoop/start(_:)``.
  package init(_ request: HTTPRequest) {
    self.request = request
    pace = Pace(rate: request.maxRate)
    trouble.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
  }

  deinit {
    close()
    trouble.deallocate()
  }

  /// The host that is asked, for messages.
  package var host: String { WebAddress(request.url)?.host ?? "the server" }

  /// Whether the end of a body without a length can be told from a cut: it can over HTTP/2.
  package var endsAreExplicit: Bool {
    var version = 0
    guard let handle, curl_get_long(handle, CURLINFO_HTTP_VERSION, &version) == CURLE_OK else { return false }
    return version >= Int(CURL_HTTP_VERSION_2_0)
  }

  /// Whether anything of the request may have reached the server.
  package var wasSent: Bool {
    var bytes = 0
    guard let handle, curl_get_long(handle, CURLINFO_REQUEST_SIZE, &bytes) == CURLE_OK else { return false }
    return bytes > 0
  }

  /// How many bytes of the body have left, the last time that it was sent.
  package var uploaded: Int64 {
    var bytes = 0
    guard let handle, curl_get_offset(handle, CURLINFO_SIZE_UPLOAD_T, &bytes) == CURLE_OK else { return 0 }
    return Int64(bytes)
  }

  /// Changes the bound on bytes a second, also while it goes on.
  package func limit(to rate: Int64?) { pace.change(to: rate, at: .now) }

  // MARK: For the loop

  /// Makes the handle; nil when there is no memory.
  func open() -> UnsafeMutableRawPointer? {
    guard handle == nil, let handle = curl_easy_init() else { return handle }
    self.handle = handle
    lastProgress = .now
    isHeadTold = false
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

  /// The end has come: tells it, and lets go of what was to be called.
  func finish(_ code: CURLcode) {
    guard handle != nil else { return }
    let head = judgedHead(code)
    // An answer without a body, or one that broke before it.
    if let head, !isHeadTold, !tell(head) { isStopped = true }
    let end: End =
      if let head, isStopped {
        .stopped(head)
      } else if let head, code == CURLE_OK {
        .whole(head)
      } else {
        .failed(ExchangeFailure(code: code, detail: String(cString: trouble), host: host), head)
      }
    let told = onEnd
    letGo()
    told(end)
    close()
  }

  func fail(_ failure: ExchangeFailure) {
    let head = judgedHead(CURLE_OPERATION_TIMEDOUT)
    let told = onEnd
    letGo()
    told(.failed(failure, head))
    close()
  }

  /// The head that counts; of an exchange that broke not one that others were to come after.
  ///
  /// What libcurl goes on from by itself is never told.
  private func judgedHead(_ code: CURLcode) -> ResponseHead? {
    guard code != CURLE_OK, !isHeadTold, let head else { return head }
    let isFollowed =
      switch head.status {
      case 100..<200: true
      case 401: request.hasLogin
      // Whether there is a password for the proxy only libcurl knows.
      case 407: true
      default: false
      }
    return isFollowed ? nil : head
  }

  func letGo() {
    onHead = { _ in true }
    onBody = { _ in .taken }
    onEnd = { _ in }
    fill = { _ in .broken }
    rewind = { _ in false }
  }

  /// Hands over what was held back; the code is that of an exchange that has ended by it.
  func resume() -> CURLcode {
    guard isPaused || isPaced, let handle else { return CURLE_OK }
    isPaused = false
    isPaced = false
    lastProgress = .now
    return curl_easy_pause(handle, CURLPAUSE_CONT)
  }

  /// When the exchange is to be looked at again though nothing has come or gone; nil for never.
  var alarm: ContinuousClock.Instant? {
    if isPaused { return nil }
    return isPaced ? pace.opens(after: .now) ?? .now : patience.map { lastProgress + $0 }
  }

  /// What is to be done with it at its alarm.
  func duty(at now: ContinuousClock.Instant) -> Duty? {
    if isPaused { return nil }
    if isPaced { return pace.opens(after: now) == nil ? .resume : nil }
    return patience.map { lastProgress + $0 <= now } == true ? .end : nil
  }

  /// How long nothing may come or go: long while a server may be busy with all that it was sent, because it would only
  /// be sent the same again.
  ///
  /// Nil for any time.
  var patience: Duration? {
    if let stream = request.stream, isHeadFinal { return stream.silence }
    guard let length = request.bodyLength, length > 0, handedOver >= length, !isHeadFinal else { return request.stall }
    return request.stall * 10
  }

  /// Whether the answer has begun, and not just the word that more of the body is wanted.
  private var isHeadFinal: Bool { head.map { $0.status >= 200 } ?? false }

  enum Duty {
    case resume
    case end
  }

  // MARK: For libcurl

  /// Takes a line of a head, and answers whether to go on.
  func tookHeader(_ line: Substring) -> Bool {
    lastProgress = .now
    if line.hasPrefix("HTTP/"), !isHeadTold, let next = ResponseHead(statusLine: line) {
      head = next
    } else if !isHeadTold {
      head?.append(line: line)
    }
    // The body of such an answer may not begin for hours.
    guard request.stream != nil, !isHeadTold, line.allSatisfy(\.isNewline), let head, head.status == 200 else {
      return true
    }
    isStopped = !tell(head)
    return !isStopped
  }

  func tookBody(_ bytes: UnsafeRawBufferPointer) -> Use {
    let now = ContinuousClock.now
    lastProgress = now
    guard let head else { return .ended }
    guard pace.opens(after: now) == nil else {
      isPaced = true
      return .paused
    }
    let use = isHeadTold || tell(head) ? onBody(bytes) : .ended
    if use == .taken { pace.take(bytes.count, at: now) }
    isPaused = use == .paused
    isStopped = use == .ended
    return use
  }

  func wantsBody(_ room: UnsafeMutableRawBufferPointer) -> Filling {
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
      pace.take(count, at: now)
    case .paused: isPaused = true
    case .broken: break
    }
    return filling
  }

  func rewinds(to offset: Int64) -> Bool {
    handedOver = offset
    return rewind(offset)
  }

  /// Has the kernel take less ahead of a slow exchange than it would, because that is lost when the exchange is ended.
  func shrinkBuffer(of socket: Int32) {
    guard let rate = pace.rate, rate < 4 << 20 else { return }
    var size = Int32(max(rate / 8, 32 << 10))
    setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout.size(ofValue: size)))
  }

  private func tell(_ head: ResponseHead) -> Bool {
    isHeadTold = true
    return onHead(head)
  }
}
