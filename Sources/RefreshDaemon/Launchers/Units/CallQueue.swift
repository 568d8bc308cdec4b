import Systemd

/// A queue of calls to a service manager that limits how many are sent at once.
///
/// dbus-daemon(1) refuses calls of a connection that waits for 128 replies (`max_replies_per_connection`), which would
/// happen when two hundred tasks start together. Thread-confined, as the bus is.
final class CallQueue {
  /// The most calls in flight: far below the limit of the bus, because the connection has other calls too.
  private static let bound = 32

  /// Sends the call and returns it; nil if there is nothing to call any more.
  typealias Send = (_ reply: @escaping (BusCall.Answer) -> Void) -> AnyObject?

  /// A call that waits for its turn or its reply; releasing it drops the call or ignores the reply.
  final class QueuedCall {
    fileprivate let send: Send
    fileprivate let reply: (BusCall.Answer) -> Void
    fileprivate(set) var isAnswered = false

    fileprivate init(_ send: @escaping Send, _ reply: @escaping (BusCall.Answer) -> Void) {
      (self.send, self.reply) = (send, reply)
    }
  }

  private var waiting: [() -> QueuedCall?] = []
  /// Kept until the reply comes, also for a released request, because the bus counts those calls as well.
  private var inFlight: [Int: AnyObject] = [:]
  private var count = 0

  /// Adds a call and sends it at once if fewer than the limit are in flight.
  func add(_ send: @escaping Send, answer reply: @escaping (BusCall.Answer) -> Void) -> QueuedCall {
    let request = QueuedCall(send, reply)
    waiting.append { [weak request] in request }
    sendNext()
    return request
  }

  private func sendNext() {
    while inFlight.count < Self.bound, !waiting.isEmpty {
      if let request = waiting.removeFirst()() { start(request) }
    }
  }

  private func start(_ request: QueuedCall) {
    count += 1
    let number = count
    let call = request.send { [unowned self, weak request] answer in
      // A call that cannot be sent is answered before `send` returns.
      let wasInFlight = inFlight.removeValue(forKey: number) != nil
      request?.isAnswered = true
      request?.reply(answer)
      if wasInFlight { sendNext() }
    }
    guard let call else { return request.isAnswered = true }
    if !request.isAnswered { inFlight[number] = call }
  }
}
