import RefreshAPI
import RefreshEngine
import RefreshStore

// Transfers as the socket shows them.

extension KnownTransfers.Known {
  /// The transfer at this instant; nil if the engine does not know the id.
  func view(
    of id: TransferID, at now: Instant, in engine: Engine, launcherProblem: String?
  ) -> Wire.Transfer? {
    guard let state = engine.transferState(of: id), let verdict = engine.transferVerdict(on: id, at: now) else {
      return nil
    }
    let policy = state.policy
    var (result, ended): (TransferResult?, Instant?) = (nil, nil)
    if case .ended(let how, let at) = state.stage { (result, ended) = (how, at) }
    // A worker that cannot be started reports nothing.
    let isStarting = state.stage == .transferring && speed == nil
    return Wire.Transfer(
      id: Int64(id.number), app: policy.app.description, session: policy.session.name,
      direction: Wire.Direction(request.direction), url: shownURL, path: request.path,
      description: request.description, state: Wire.TransferState(state.stage),
      holds: verdict.holds(of: policy, wallOffset: engine.wallOffset),
      untilMicroseconds: verdict.until?.wallMicroseconds(at: engine.wallOffset),
      bytes: bytes, total: progress.total ?? request.length, rate: speed?.rate,
      attempts: progress.attempts, message: isStarting ? launcherProblem ?? progress.message : progress.message,
      result: result.map(Wire.TransferResult.init),
      sha256: progress.sha256, priority: Int64(policy.priority),
      network: Wire.NetworkConstraint(policy.network),
      enqueuedMicroseconds: policy.enqueuedAt.wallMicroseconds(at: engine.wallOffset),
      endedMicroseconds: ended?.wallMicroseconds(at: engine.wallOffset))
  }
}

extension TransferVerdict {
  /// When the transfer is due; nil if it is not waiting for time to pass.
  fileprivate var until: Instant? {
    if case .notDue(let until) = self { until } else { nil }
  }

  /// The holds on a transfer with their remedies; nil if there are none.
  func holds(of policy: TransferPolicy, wallOffset: Duration) -> [Wire.Hold]? {
    switch self {
    case .held(let holds):
      holds.map { hold in
        let shown = hold.wire(of: policy.app.description, wallOffset: wallOffset)
        guard let remedy = hold.remedy(of: policy) else { return shown }
        return Wire.Hold(name: shown.name, remedy: remedy, untilMicroseconds: shown.untilMicroseconds)
      }
    case .noSpace(let needed):
      [Wire.Hold(name: "space", remedy: "free \(needed) bytes on the disk of the file; it goes on by itself then")]
    case .ready, .notDue, .transferring, .stopping, .paused, .ended: nil
    }
  }
}

extension Hold {
  /// The remedy of a hold, if it differs from a refresh's remedy.
  fileprivate func remedy(of policy: TransferPolicy) -> String? {
    switch self {
    case .constraint(.network, _):
      switch policy.network {
      case .none, .any: "a network that reaches the internet"
      case .unmetered: "a network that is not metered"
      case .wifi: "Wi-Fi that reaches the internet"
      }
    case .concurrency:
      "a place among the transfers that run; max_concurrent and max_per_host of [transfers] bound them"
    default: nil
    }
  }
}

extension Wire.Resume {
  init(_ resume: ResumeData) {
    self.init(
      url: resume.url, etag: resume.etag, lastModified: resume.lastModified, date: resume.date, total: resume.total,
      durable: resume.durable, boot: resume.boot, tusURL: resume.tusURL, partMark: resume.partMark)
  }
}

extension ResumeData {
  init(_ resume: Wire.Resume) {
    self.init(durable: resume.durable, boot: resume.boot)
    (url, etag, lastModified, date) = (resume.url, resume.etag, resume.lastModified, resume.date)
    (total, tusURL, partMark) = (resume.total, resume.tusURL, resume.partMark)
  }
}
