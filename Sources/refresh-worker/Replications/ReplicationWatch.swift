import HTTP
import JSON
import RefreshAPI

/// Looks for the job of a replication in CouchDB's scheduler, which has it from its start to its end.
///
/// CouchDB answers a replication when the job ends, and never if another request ends the job. Only an administrator of
/// CouchDB may look; the looks of others only show that the server is alive.
final class ReplicationWatch {
  /// The result of a look.
  enum Finding {
    /// The job was found; documents count from this session on, if none was reported before.
    case found(after: ReplicationHistory.Session)
    case progress(String)
    /// The scheduler does not have the job, or no longer has it.
    case gone
  }

  /// The subject of the next look.
  private enum Question {
    case jobs
    case checkpoint(jobID: String)
    case job(id: String, since: ReplicationHistory.Session?)
  }

  /// The longest silence of the server before it counts as gone.
  static let silence = Duration.seconds(10)
  /// The time from the last answer to the next look; the first look comes at a quarter of it.
  private static let interval = Duration.seconds(2)
  /// The most jobs of the list.
  private static let mostJobs = 500
  /// The looks in a row without the job that mean that CouchDB will not answer: the answer may be on its way, or the job
  /// about to begin.
  private static let mostMisses = 3

  private let order: Wire.ReplicationOrder
  private let request: ReplicationRequest
  private let loop: ExchangeLoop
  private var question = Question.jobs
  /// The look that runs.
  private var look: CouchCall?
  private var nextLook = ContinuousClock.now + interval / 4
  private var misses = 0
  /// CouchDB's last count of pending changes, and the number of changes that had been compared at that time.
  private var counted: (pending: Int64, checked: Int64)?
  /// The last progress that was shown; nil before the first.
  private(set) var progress: String?

  init(_ order: Wire.ReplicationOrder, _ request: ReplicationRequest, on loop: ExchangeLoop) {
    (self.order, self.request, self.loop) = (order, request, loop)
  }

  /// Whether the job was in the list of jobs; nil if there was no list, for example because the login may not read it.
  private(set) var hasSeenJob: Bool?

  /// The time to the next look; nil while one runs.
  var timeToLook: Duration? { look == nil ? max(.zero, ContinuousClock.now.duration(to: nextLook)) : nil }

  /// Forgets the job, because the replication was requested again.
  func restart() {
    (question, misses, hasSeenJob) = (.jobs, 0, nil)
  }

  /// Starts the next look if it is due.
  func lookIfDue() throws(ExchangeFailure) {
    guard let timeToLook, timeToLook <= .zero else { return }
    let jobs = "\(request.server)/_scheduler/jobs"
    let (url, headers) =
      switch question {
      case .jobs: ("\(jobs)?limit=\(Self.mostJobs)", request.headers)
      case .job(let id, _): ("\(jobs)/\(id.map { $0 == "+" ? "%2B" : "\($0)" }.joined())", request.headers)
      case .checkpoint(let id):
        // The suffix of a job, as in `ID+create_target`, does not belong to the checkpoint's name.
        ("\(request.near.url)/_local/\(id.prefix { $0 != "+" })", request.nearHeaders)
      }
    let call = CouchCall(url: url, headers: headers, posting: nil, silence: Self.silence)
    look = call
    try loop.start(call.exchange)
  }

  /// Reads the answer to a look, if there is one; throws if the server is silent.
  ///
  /// Any other failure costs only the progress, such as a list that is too long or a proxy that closes the connection.
  func read() throws(ExchangeFailure) -> Finding? {
    guard let answer = look?.answer else { return nil }
    look = nil
    nextLook = .now + Self.interval
    switch answer {
    case .failure(let failure):
      if failure.isSilence { throw failure }
      if case .checkpoint(let id) = question { question = .job(id: id, since: nil) }
      return nil
    case .response(let head, let body): return read(head, JSONValue.lenient(body))
    }
  }

  private func read(_ head: ResponseHead, _ value: JSONValue?) -> Finding? {
    switch question {
    case .jobs:
      guard head.status == 200 else { return nil }
      guard let jobs = ReplicationJob.jobs(of: order, in: value) else { return nil }
      hasSeenJob = !jobs.isEmpty
      guard let job = jobs.first else { return miss() }
      // The list does not contain the selectors, so several jobs look alike.
      guard jobs.count == 1 else { return nil }
      (question, nextLook, misses) = (.checkpoint(jobID: job.id), .now, 0)
      return nil
    case .checkpoint(let id):
      nextLook = .now
      guard [200, 404].contains(head.status) else {
        question = .job(id: id, since: nil)
        return nil
      }
      let history = ReplicationHistory(value)
      let base = history.session(order.reported) ?? history.sessions.first ?? ReplicationHistory.beginning
      question = .job(id: id, since: base)
      return .found(after: base)
    case .job(_, let base):
      if head.status == 404 { return miss() }
      guard head.status == 200, let job = ReplicationJob(value) else { return nil }
      misses = 0
      return base.flatMap { progress(of: job, since: $0) }
    }
  }

  private func miss() -> Finding? {
    misses += 1
    nextLook = .now + Self.interval / 2
    return misses == Self.mostMisses ? .gone : nil
  }

  private func progress(of job: ReplicationJob, since base: ReplicationHistory.Session) -> Finding? {
    let written = job.written - base.written
    // Until a job writes its first document, its counts belong to no session.
    guard written >= 0 else { return nil }
    let toCome = changesToCome(of: job).map { ", about \($0) changes left" } ?? ""
    let text = "\(documents(written)) written\(toCome)"
    guard text != progress else { return nil }
    progress = text
    return .progress(text)
  }

  /// The number of pending changes, estimated from CouchDB's last count; nil without a count, and at the end.
  private func changesToCome(of job: ReplicationJob) -> Int64? {
    guard let pending = job.pending else { return nil }
    if pending != counted?.pending { counted = (pending, job.checked) }
    let left = pending - (job.checked - (counted?.checked ?? job.checked))
    return left > 0 ? left : nil
  }
}

/// A job in CouchDB's scheduler, by `GET _scheduler/jobs`.
private struct ReplicationJob {
  let id: String
  /// The documents that it and the sessions before it have written.
  let written: Int64
  /// The changes that it and the sessions before it have compared with the target.
  let checked: Int64
  /// The changes that are still to be compared; nil until CouchDB has counted them, which it does every 30 s.
  let pending: Int64?

  /// Reads an element of the list of jobs; nil for anything else.
  init?(_ value: JSONValue?) {
    guard let value, case .text(let id)? = value["id"] else { return nil }
    self.id = id
    let info = value["info"]
    written = info?.count("docs_written") ?? 0
    checked = info?.count("revisions_checked") ?? 0
    pending = if case .number(let digits)? = info?["changes_pending"] { Int64(digits) } else { nil }
  }

  /// The jobs that replicate the databases of an order, which may have other selectors; nil without a whole list.
  static func jobs(of order: Wire.ReplicationOrder, in list: JSONValue?) -> [ReplicationJob]? {
    guard let list, case .list(let jobs)? = list["jobs"], list.count("total_rows") <= jobs.count else { return nil }
    return jobs.filter { isSame($0["source"], order.source.url) && isSame($0["target"], order.target.url) }
      .compactMap { ReplicationJob($0) }
  }

  /// Whether a member is the URL of a database, which CouchDB shows with a slash at its end.
  private static func isSame(_ member: JSONValue?, _ url: String) -> Bool {
    guard case .text(let text)? = member else { return false }
    return text == url || text == "\(url)/"
  }
}
