import Glibc
import HTTP
import RefreshAPI

/// Makes a CouchDB server replicate once, and waits for the end.
///
/// CouchDB answers when it has finished, which may take hours. Meanwhile the worker asks for the list of tasks, for the
/// progress and to detect a server that is gone.
final class Replicator {
  /// The longest silence of the server before it counts as gone.
  private static let silence = Duration.seconds(10)
  /// The time from the last answer, or from the start, to the next request for the list of tasks.
  private static let interval = Duration.seconds(2)
  /// The longest replication; the deadline of the refresh comes first.
  private static let answerTime = Duration.seconds(7 * 24 * 3600)
  /// The time that the server has to cancel, within the grace of the refresh.
  private static let cancelTime = Duration.seconds(3)

  private let order: Wire.ReplicationOrder
  private let request: ReplicationRequest
  private let loop: ExchangeLoop
  private let replication: CouchCall
  /// The request for the list of tasks, while one runs.
  private var look: CouchCall?
  private var nextLook = ContinuousClock.now + interval
  /// The progress that was reported last.
  private var progress: String?

  /// Reads the files that the order names; sends nothing yet.
  init(_ order: Wire.ReplicationOrder) throws(TaskFailure) {
    self.order = order
    do throws(ExchangeFailure) {
      request = try ReplicationRequest(order)
      loop = try ExchangeLoop()
    } catch {
      throw TaskFailure(error)
    }
    replication = CouchCall(
      url: "\(request.server)/_replicate", headers: request.headers, posting: request.start, silence: Self.silence,
      answerTime: Self.answerTime)
  }

  /// Replicates; returns nil if the descriptor `terminated` became readable before the end, when it is cancelled.
  ///
  /// - Parameter tell: called with the progress in words, each time it has changed.
  func run(until terminated: Int32, tell: (String) -> Void) throws(TaskFailure) -> TaskResult? {
    do throws(ExchangeFailure) {
      try loop.start(replication.exchange)
      while true {
        let readable = loop.turn(watching: [terminated], timeout: look == nil ? untilLook : nil)
        if let answer = replication.answer { return try result(of: answer) }
        if readable.contains(terminated) {
          try cancel()
          return nil
        }
        try readLook(tell)
        if look == nil, untilLook <= .zero { try startLook() }
      }
    } catch {
      throw TaskFailure(error)
    }
  }

  private var untilLook: Duration { max(.zero, ContinuousClock.now.duration(to: nextLook)) }

  private func result(of answer: CouchCall.Answer) throws(ExchangeFailure) -> TaskResult {
    switch answer {
    case .response(let head, let body):
      ReplicationAnswer(head, body: body, host: replication.exchange.host).result(at: HTTPDate.now())
    case .failure(let failure): throw failure
    }
  }

  private func startLook() throws(ExchangeFailure) {
    let call = CouchCall(
      url: "\(request.server)/_active_tasks", headers: request.headers, posting: nil, silence: Self.silence)
    look = call
    try loop.start(call.exchange)
  }

  /// Reads the answer about the tasks; throws if the server is silent.
  ///
  /// Any other failure costs only the progress, such as a list that is too long or a proxy that closes the connection.
  private func readLook(_ tell: (String) -> Void) throws(ExchangeFailure) {
    guard let answer = look?.answer else { return }
    look = nil
    nextLook = .now + Self.interval
    switch answer {
    case .failure(let failure): if failure.isSilence { throw failure }
    case .response(let head, let body):
      guard head.status == 200, let now = ActiveReplication.progress(in: body, of: order), now != progress else {
        return
      }
      progress = now
      tell(now)
    }
  }

  /// Cancels the replication, so that CouchDB writes a checkpoint and stops.
  private func cancel() throws(ExchangeFailure) {
    guard replication.exchange.wasSent else { return }
    let call = CouchCall(
      url: "\(request.server)/_replicate", headers: request.headers, posting: request.cancel, silence: Self.cancelTime,
      answerTime: Self.cancelTime)
    try loop.start(call.exchange)
    while call.answer == nil { _ = loop.turn(watching: [], timeout: Self.cancelTime) }
    let sofar = progress.map { "\($0) when it was cancelled" } ?? "cancelled"
    // CouchDB answers 404 if the replication has ended by itself.
    guard case .response(let head, _) = call.answer, [200, 404].contains(head.status) else {
      return logError("cannot cancel the replication in \(call.exchange.host), which goes on with it")
    }
    logError("\(sofar); the next refresh goes on from the checkpoint")
  }
}
