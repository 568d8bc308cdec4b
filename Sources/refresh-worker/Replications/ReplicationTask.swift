import CLinux
import Glibc
import HTTP
import RefreshAPI
import Varlink

/// The built-in task `replicate`: makes CouchDB replicate a database, and reports the result to the daemon.
enum ReplicationTask {
  /// Runs the task and returns the exit code.
  static func run() -> Int32 {
    TaskContext.run(Wire.ReplicationOrder.self) { order, context in
      let terminated = linux_signal_descriptor(SIGTERM)
      do throws(TaskFailure) {
        let result = try Replicator(order).run(until: terminated) { news in
          switch news {
          case .progress(let text):
            logError(text)
            report(text, context)
          case .began(let session):
            context.remember(.init(url: nil, etag: session.id, lastModified: nil, digest: nil), of: order.pair)
          }
        }
        guard let result else { return EX_TEMPFAIL }
        if let remembered = result.remembered { context.remember(remembered, of: order.pair) }
        return context.end(result)
      } catch {
        return context.end(TaskResult(error))
      }
    }
  }

  private static func report(_ progress: String, _ context: TaskContext) {
    do throws(ClientError) {
      _ = try context.call(WorkerInterface.Progress.self) { token in
        WorkerInterface.Progress.Parameters(token: token, text: progress)
      }
    } catch {
      logError("cannot report the progress to refreshd: \(error)")
    }
  }
}

/// Makes a CouchDB server replicate once, and waits for the end.
///
/// CouchDB answers when it has finished, which may take hours. Meanwhile the worker looks at the job, for the progress and
/// to detect a server or a job that is gone.
private final class Replicator {
  /// An event before the end.
  enum News {
    case progress(String)
    /// Documents count from this session on, because none was reported before.
    case began(after: ReplicationHistory.Session)
  }

  /// The longest replication; the deadline of the refresh comes first.
  private static let answerTime = Duration.seconds(7 * 24 * 3600)
  /// How long the remote servers have to answer, within the grace of the refresh.
  private static let probeTime = Duration.seconds(2)
  /// The time that a cancel is waited for, within the rest of the grace.
  private static let cancelTime = Duration.seconds(2)

  private let order: Wire.ReplicationOrder
  private let request: ReplicationRequest
  private let loop: ExchangeLoop
  private let watch: ReplicationWatch
  private var replication: CouchCall
  /// Whether the job has gone once already.
  private var isSecondTry = false

  /// Reads the files that the order names; sends nothing yet.
  init(_ order: Wire.ReplicationOrder) throws(TaskFailure) {
    self.order = order
    do throws(ExchangeFailure) {
      request = try ReplicationRequest(order)
      loop = try ExchangeLoop()
    } catch {
      throw TaskFailure(error)
    }
    watch = ReplicationWatch(order, request, on: loop)
    replication = Self.call(for: request)
  }

  private static func call(for request: ReplicationRequest) -> CouchCall {
    CouchCall(
      url: "\(request.server)/_replicate", headers: request.headers, posting: request.start,
      silence: ReplicationWatch.silence, answerTime: answerTime)
  }

  private var host: String { replication.exchange.host }

  /// Replicates; returns nil if the descriptor `terminated` became readable before the end, when it is cancelled.
  func run(until terminated: Int32, report: (News) -> Void) throws(TaskFailure) -> TaskResult? {
    do throws(ExchangeFailure) {
      try loop.start(replication.exchange)
      while true {
        let readable = loop.turn(watching: [terminated], timeout: watch.timeToLook)
        if let answer = replication.answer { return try result(of: answer) }
        if readable.contains(terminated) {
          logError(try stop())
          return nil
        }
        switch try watch.read() {
        case .found(let session): if order.reported == nil { report(.began(after: session)) }
        case .progress(let text): report(.progress(text))
        case .gone: try startAgain()
        case nil: break
        }
        try watch.lookIfDue()
      }
    } catch {
      throw TaskFailure(error)
    }
  }

  private func result(of answer: CouchCall.Answer) throws(ExchangeFailure) -> TaskResult {
    switch answer {
    case .response(let head, let body):
      ReplicationAnswer(head, body: body, host: host, to: order).result(at: HTTPDate.now())
    case .failure(let failure): throw failure
    }
  }

  /// Requests the replication again, because its job is gone and CouchDB will not answer; throws the second time.
  ///
  /// The job was one of an earlier refresh that CouchDB was still cancelling, or another app with the same databases has
  /// cancelled it at its own deadline. A job that has not even begun the second time waits for a busy replicator.
  private func startAgain() throws(ExchangeFailure) {
    guard !isSecondTry else {
      if watch.hasSeenJob == false { return }
      throw ExchangeFailure(
        kind: .temporary, message: "another request has cancelled the replication in \(host), twice")
    }
    isSecondTry = true
    loop.cancel(replication.exchange)
    replication = Self.call(for: request)
    watch.restart()
    try loop.start(replication.exchange)
  }

  /// Ends the replication, and describes the result for a person.
  ///
  /// A cancel writes a checkpoint on both sides. While one side does not answer, CouchDB is stuck with the cancel and
  /// neither starts nor ends other replications for minutes. So such a replication is left to CouchDB's own time limits.
  private func stop() throws(ExchangeFailure) -> String {
    guard replication.exchange.wasSent else { return "\(host) was not asked yet" }
    let written = watch.progress.map { "\($0); " } ?? ""
    if let silent = try silentServer() {
      return "\(written)\(silent) does not answer, so \(host) continues until it gives up; the next refresh joins it"
    }
    let call = CouchCall(
      url: "\(request.server)/_replicate", headers: request.headers, posting: request.cancel, silence: Self.cancelTime,
      answerTime: Self.cancelTime)
    try loop.start(call.exchange)
    while call.answer == nil { _ = loop.turn(watching: [], timeout: Self.cancelTime) }
    switch call.answer {
    case .response(let head, _) where head.status == 200:
      let sofar = watch.progress.map { "\($0) when it was cancelled" } ?? "cancelled"
      return "\(sofar); the next refresh continues from the checkpoint"
    case .response(let head, _) where head.status == 404:
      return watch.hasSeenJob == false
        ? "\(host) did not begin: its replicator is busy with others"
        : "\(written)it ended by itself at that moment; the next refresh counts the documents"
    case .response(let head, _):
      return
        "cannot cancel the replication: HTTP status \(head.status); \(host) continues, and the next refresh joins it"
    case .failure, nil:
      return
        "\(written)\(host) was asked to cancel and is still doing so; the next refresh continues from the checkpoint"
    }
  }

  /// A server of one of the databases that does not answer, without its path; nil if all do.
  private func silentServer() throws(ExchangeFailure) -> String? {
    let probes = request.far.map {
      CouchCall(url: $0.url, headers: [], posting: nil, silence: Self.probeTime, answerTime: Self.probeTime)
    }
    for probe in probes { try loop.start(probe.exchange) }
    while probes.contains(where: { $0.answer == nil }) { _ = loop.turn(watching: [], timeout: Self.probeTime) }
    let silent = probes.first { if case .failure(let failure)? = $0.answer { failure.isSilence } else { false } }
    return silent?.exchange.host
  }
}
