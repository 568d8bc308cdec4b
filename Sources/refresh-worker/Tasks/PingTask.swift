import Glibc
import HTTP
import RefreshAPI

/// `refresh-worker ping`: reports a refresh to a dead man's switch by a GET, of whose answer only the head counts.
///
/// Follows redirects, and retries once after a temporary failure. The exit code is 0 or 1. The last printed line says why
/// the ping failed; it names the host and keeps the rest of the URL secret.
final class PingTask {
  /// The longest silence of the server in one try.
  private static let silence = Duration.seconds(5)
  /// The pause before the second try.
  private static let pause = Duration.seconds(1)

  private let loop: ExchangeLoop
  private let address: WebAddress
  private let end: ContinuousClock.Instant
  /// The result of the current attempt; nil while it is unknown.
  private var result: Result<Void, TaskFailure>?
  /// The target of the last redirect; nil if there was no redirect.
  private var location: String?

  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    let order = TaskContext.confinedOrder(as: Wire.PingOrder.self)
    // A name server has a bound of its own, which is longer.
    alarm(UInt32(clamping: order.patienceMicroseconds / 1_000_000 + 3))
    do throws(TaskFailure) {
      try PingTask(order).send()
      return EX_OK
    } catch {
      print(error.message)
      return 1
    }
  }

  private init(_ order: Wire.PingOrder) throws(TaskFailure) {
    guard let address = WebAddress(order.url) else {
      throw TaskFailure(.failed, "cannot read the URL; correct ping in the app's file")
    }
    self.address = address
    end = .now + .microseconds(order.patienceMicroseconds)
    do throws(ExchangeFailure) { loop = try ExchangeLoop() } catch { throw TaskFailure(error) }
  }

  /// Sends the ping; retries once after a temporary failure.
  private func send() throws(TaskFailure) {
    do throws(TaskFailure) { return try sendOnce() } catch {
      guard case .retry = error.kind, .now + Self.pause < end else { throw error }
    }
    usleep(useconds_t(Self.pause.components.seconds) * 1_000_000)
    try sendOnce()
  }

  private func sendOnce() throws(TaskFailure) {
    result = nil
    var redirects = Redirects(from: address)
    begin(redirects)
    while true {
      if let result { return try result.get() }
      let left = ContinuousClock.now.duration(to: end)
      guard left > .zero else { throw TaskFailure(.failed, "no answer of \(redirects.here.host) in time") }
      _ = loop.turn(watching: [], timeout: left)
      guard let location else { continue }
      self.location = nil
      do throws(ExchangeFailure) { try redirects.follow(location) } catch { throw TaskFailure(error) }
      begin(redirects)
    }
  }

  private func begin(_ redirects: Redirects) {
    do throws(ExchangeFailure) {
      var request = HTTPRequest(url: redirects.here.text)
      (request.stall, request.answerTime) = (Self.silence, Self.silence)
      request.login = redirects.login
      let exchange = Exchange(request)
      // The head is enough, so no body is read.
      exchange.onHead = { _ in false }
      exchange.onEnd = { [unowned self] in receive($0, from: exchange.host) }
      try loop.start(exchange)
    } catch {
      result = .failure(TaskFailure(error))
    }
  }

  private func receive(_ end: Exchange.End, from host: String) {
    switch end {
    case .whole(let head), .unmarked(let head), .stopped(let head), .failed(_, let head?): judge(head, host)
    case .failed(let failure, nil): result = .failure(TaskFailure(failure))
    }
  }

  private func judge(_ head: ResponseHead, _ host: String) {
    switch FetchAnswer(head) {
    case .elsewhere(let location): self.location = location
    case _ where (200..<300).contains(head.status): result = .success(())
    case .none(let isTemporary):
      result = .failure(
        TaskFailure(isTemporary ? .retry(after: nil) : .failed, "\(host) answers HTTP status \(head.status)"))
    case .content, .same: result = .failure(TaskFailure(.failed, "\(host) answers HTTP status \(head.status)"))
    }
  }
}
