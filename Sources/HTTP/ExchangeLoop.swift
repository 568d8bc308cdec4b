import CCurl
import Glibc

/// Runs the exchanges of the process on one thread, and waits for other descriptors too.
///
/// Later exchanges reuse idle connections; over HTTP/2, exchanges share a connection.
package final class ExchangeLoop {
  private let multi: UnsafeMutableRawPointer
  private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]

  /// Makes a loop; throws when the process has no memory left.
  package init() throws(ExchangeFailure) {
    // Without this, a server that closes a TLS connection early would end the process by SIGPIPE.
    signal(SIGPIPE, SIG_IGN)
    guard curl_start() == CURLE_OK, let multi = curl_multi_init() else {
      throw ExchangeFailure(kind: .temporary, message: "cannot start libcurl: out of memory")
    }
    self.multi = multi
    // libcurl's default is four times the running exchanges, which would close connections that the next one needs.
    curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 32)
  }

  deinit {
    for exchange in exchanges.values { cancel(exchange) }
    curl_multi_cleanup(multi)
  }

  /// Starts an exchange and keeps it until it ends.
  ///
  /// Throws when the process has no memory left; no handler was called then.
  package func start(_ exchange: Exchange) throws(ExchangeFailure) {
    guard let handle = exchange.open(), curl_multi_add_handle(multi, handle) == CURLM_OK else {
      exchange.close()
      throw ExchangeFailure(kind: .temporary, message: "cannot ask \(exchange.host): out of memory")
    }
    exchanges[handle] = exchange
  }

  /// Ends an exchange at once, without a call of its handlers.
  ///
  /// Must not be called from a handler of an exchange, except from `onEnd`.
  package func cancel(_ exchange: Exchange) {
    guard remove(exchange) else { return }
    exchange.dropHandlers()
    exchange.close()
  }

  /// Resumes an exchange that a handler paused.
  package func resume(_ exchange: Exchange) {
    let code = exchange.resume()
    // libcurl delivers the held bytes inside this call; if a handler ends the exchange then, libcurl reports no end later.
    if code != CURLE_OK, remove(exchange) { exchange.finish(code) }
  }

  /// Waits for work, does it, and returns the descriptors that are readable.
  ///
  /// Waits at most `timeout`; if `timeout` is nil, until a descriptor or an exchange is ready.
  package func turn(watching descriptors: [Int32], timeout: Duration?) -> Set<Int32> {
    var waiting = descriptors.map { curl_waitfd(fd: $0, events: Int16(CURL_WAIT_POLLIN), revents: 0) }
    var active: Int32 = 0
    curl_multi_perform(multi, &active)
    // After an end the caller decides whether to wait again, so do not wait here.
    let patience = endFinished() ? .zero : [timeout, untilNextAlarm].compactMap(\.self).min() ?? .seconds(3600)
    let milliseconds = patience.components.seconds * 1000 + patience.components.attoseconds / 1_000_000_000_000_000
    curl_multi_poll(multi, &waiting, UInt32(waiting.count), Int32(clamping: max(0, milliseconds)), nil)
    curl_multi_perform(multi, &active)
    endFinished()
    resumeOrEnd()
    return Set(waiting.filter { $0.revents != 0 }.map(\.fd))
  }

  /// Ends the exchanges that libcurl has finished; returns whether there were any.
  @discardableResult
  private func endFinished() -> Bool {
    var left: Int32 = 0
    var hasEnded = false
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = curl_message_code(message)
      guard let exchange = exchanges.removeValue(forKey: handle) else { continue }
      curl_multi_remove_handle(multi, handle)
      exchange.finish(code)
      hasEnded = true
    }
    return hasEnded
  }

  private var untilNextAlarm: Duration? {
    exchanges.values.lazy.compactMap(\.alarm).min().map { ContinuousClock.now.duration(to: $0) + .milliseconds(1) }
  }

  private func remove(_ exchange: Exchange) -> Bool {
    guard let handle = exchange.handle, exchanges.removeValue(forKey: handle) != nil else { return false }
    curl_multi_remove_handle(multi, handle)
    return true
  }

  /// Resumes the exchanges whose rate limit allows it again, and ends those that have stalled.
  private func resumeOrEnd() {
    let now = ContinuousClock.now
    for exchange in exchanges.values {
      switch exchange.actionDue(at: now) {
      case .resume: resume(exchange)
      case .end:
        if remove(exchange) { exchange.fail(.stalled(exchange.host, after: exchange.patience ?? .zero)) }
      case nil: break
      }
    }
  }
}
