import CCurl
import Glibc

/// All exchanges of the process and whatever else it waits for, on one thread.
///
/// Connections are kept and used again, and over HTTP/2 shared.
package final class ExchangeLoop {
  private let multi: UnsafeMutableRawPointer
  private var exchanges: [UnsafeMutableRawPointer: Exchange] = [:]

  /// Throws when the process has no memory for it.
  package init() throws(ExchangeFailure) {
    // A server that closes its end in the middle of a TLS record is an error, not the end of the process.
    signal(SIGPIPE, SIG_IGN)
    guard curl_start() == CURLE_OK, let multi = curl_multi_init() else {
      throw ExchangeFailure(kind: .temporary, message: "cannot start libcurl: there is no memory")
    }
    self.multi = multi
    // The standard is four times the exchanges of the moment, which would close what the next one needs.
    curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, 32)
  }

  deinit {
    for exchange in exchanges.values { cancel(exchange) }
    curl_multi_cleanup(multi)
  }

  /// Whether an exchange goes on.
  package var isBusy: Bool { !exchanges.isEmpty }

  /// Begins an exchange, which is kept until it ends.
  ///
  /// Throws when the process has no memory for it; nothing has been called then.
  package func start(_ exchange: Exchange) throws(ExchangeFailure) {
    guard let handle = exchange.open(), curl_multi_add_handle(multi, handle) == CURLM_OK else {
      exchange.close()
      throw ExchangeFailure(kind: .temporary, message: "cannot ask \(exchange.host): there is no memory")
    }
    exchanges[handle] = exchange
  }

  /// Ends an exchange at once; nothing of it is called any more.
  ///
  /// Not out of what an exchange calls, except its `onEnd`.
  package func cancel(_ exchange: Exchange) {
    guard remove(exchange) else { return }
    exchange.letGo()
    exchange.close()
  }

  /// Goes on with one that was paused.
  package func resume(_ exchange: Exchange) {
    let code = exchange.resume()
    // libcurl hands over at once what it held back, and does not go on by itself with one that ends by that.
    if code != CURLE_OK, remove(exchange) { exchange.finish(code) }
  }

  /// Waits until there is something to do, does it, and answers which of the descriptors can be read.
  ///
  /// Waits no longer than `timeout`, for ever if it is nil and no exchange needs to be looked at.
  package func turn(watching descriptors: [Int32], timeout: Duration?) -> Set<Int32> {
    var waiting = descriptors.map { curl_waitfd(fd: $0, events: Int16(CURL_WAIT_POLLIN), revents: 0) }
    var active: Int32 = 0
    curl_multi_perform(multi, &active)
    // Whoever waited for that end may have nothing else to wait for.
    let patience = endFinished() ? .zero : [timeout, untilNextAlarm].compactMap(\.self).min() ?? .seconds(3600)
    let milliseconds = patience.components.seconds * 1000 + patience.components.attoseconds / 1_000_000_000_000_000
    curl_multi_poll(multi, &waiting, UInt32(waiting.count), Int32(clamping: max(0, milliseconds)), nil)
    curl_multi_perform(multi, &active)
    endFinished()
    lookAtAll()
    return Set(waiting.filter { $0.revents != 0 }.map(\.fd))
  }

  /// Ends those that libcurl is done with, and answers whether there were any.
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

  /// Goes on with those that were to wait, and ends those that have stalled.
  private func lookAtAll() {
    let now = ContinuousClock.now
    for exchange in exchanges.values {
      switch exchange.duty(at: now) {
      case .resume: resume(exchange)
      case .end:
        if remove(exchange) { exchange.fail(.stalled(exchange.host, after: exchange.patience ?? .zero)) }
      case nil: break
      }
    }
  }
}
