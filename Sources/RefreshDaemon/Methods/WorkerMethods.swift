import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// The interface of tasks and workers, with the handler of each method.
  var workerInterface: Interface {
    var interface = Interface(WorkerInterface.self)
    interface.serve(WorkerInterface.Account.self) { self.account($0) }
    interface.serve(WorkerInterface.Remember.self) { self.remember($0) }
    interface.serve(WorkerInterface.Downloads.self) { self.findDownloads($0) }
    interface.serve(WorkerInterface.Progress.self) { self.progress($0) }
    interface.serve(WorkerInterface.Keep.self) { self.keep($0) }
    interface.serve(WorkerInterface.Work.self) { self.work($0) }
    interface.serve(WorkerInterface.Report.self) { self.report($0) }
    return interface
  }

  /// Applies a worker's reports in one commit, and answers after it.
  ///
  /// A worker may forget an answered report. If the disk is full, the daemon and the worker go on in memory.
  func report(_ call: Call<WorkerInterface.Report.Parameters>) {
    guard let worker = transfers.workers.worker(of: call.parameters.token, for: call.peer) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    let now = core.readClocks()
    for report in call.parameters.reports {
      let id = TransferID(UInt64(max(0, report.id)))
      // A report about a transfer that the worker no longer has was sent twice.
      guard worker.given.contains(id) else { continue }
      transfers.apply(report.bounded, of: id, by: worker, at: now)
    }
    transfers.workers.heard(from: worker)
    let changesNothing = call.parameters.reports.allSatisfy { $0.kind == .progress || $0.kind == .fetched }
    guard !changesNothing else { return call.reply() }
    saving.afterCommit { call.reply() }
    saving.commitSoon()
  }

  /// Sends a worker its orders until none is left.
  func work(_ call: Call<WorkerInterface.Work.Parameters>) {
    if !transfers.workers.accept(call) { call.fail(RefreshdInterface.NoSuchToken()) }
  }
}

extension TransferReport {
  init(_ report: Wire.TransferReport, hasProgressed: Bool) {
    self =
      switch report.end {
      case .done: .done
      case .failed: .failed
      case .wrong: .wrong
      case .noSpace: .noSpace(needed: report.needed ?? 0)
      case .stopped: .stopped
      // The worker has not tried it.
      case .elsewhere: .retry(after: nil, hasProgressed: true)
      case .retry, nil:
        .retry(after: report.retryAfterMicroseconds.map { .microseconds($0) }, hasProgressed: hasProgressed)
      }
  }
}

extension Daemon {
  /// Tells which transfers of the token's app download to a path, and which of them from a URL.
  func findDownloads(_ call: Call<WorkerInterface.Downloads.Parameters>) {
    let asked = call.parameters
    guard let app = runner.refreshes.task(of: asked.token, calledBy: call.peer)?.running.app else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    var (same, others): (Int64?, [Int64]) = (nil, [])
    for id in transfers.ids(of: app.id, for: call.peer) {
      guard let request = transfers[id]?.request, request.direction == .download, request.path == asked.path,
        request.refusal(by: app) == nil, isWanted(id)
      else { continue }
      if request.url == asked.url { same = same ?? Int64(id.number) } else { others.append(Int64(id.number)) }
    }
    call.reply(WorkerInterface.Downloads.Reply(id: same, ids: others))
  }

  /// Whether a transfer has not ended and is not being removed.
  private func isWanted(_ id: TransferID) -> Bool {
    switch core.engine.transferState(of: id)?.stage {
    case nil, .ended: false
    case .stopping(let reason): !reason.discards
    case .waiting, .transferring, .paused, .noSpace: true
    }
  }

  /// Adds the use by a task's unit to the use by its worker.
  func account(_ call: Call<WorkerInterface.Account.Parameters>) {
    let asked = call.parameters
    guard let (key, running) = runner.refreshes.task(of: asked.token, calledBy: call.peer),
      running.app.commands[key.task].unit != nil
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    guard UnitUse.cpuBounds.contains(asked.cpuMicroseconds ?? 0) else {
      return call.fail(InvalidParameter(parameter: "cpu_us"))
    }
    guard UnitUse.byteBounds.contains(asked.bytes ?? 0) else {
      return call.fail(InvalidParameter(parameter: "bytes"))
    }
    runner.note(use: UnitUse(cpu: .microseconds(asked.cpuMicroseconds ?? 0), bytes: asked.bytes), of: key)
    call.reply()
  }
}

/// The use of the machine by a unit that a task started.
struct UnitUse: Hashable, Sendable {
  /// The processor time.
  let cpu: Duration
  /// The bytes over the network; nil where systemd does not count them.
  let bytes: Int64?

  /// A larger number would overflow the sums over an app's tasks and refreshes: 35 years in microseconds, 9 PB.
  static let cpuBounds: ClosedRange<Int64> = 0...1 << 50
  static let byteBounds: ClosedRange<Int64> = 0...1 << 53

  /// Adds it to the worker's end.
  func added(to end: TaskEnd) -> TaskEnd {
    var end = end
    end.cpu += cpu
    // The worker itself uses no network.
    end.bytes = bytes
    return end
  }
}

extension Daemon {
  /// Keeps what the token's task must know the next time it fetches or replicates, and answers when they are stored.
  func remember(_ call: Call<WorkerInterface.Remember.Parameters>) {
    let asked = call.parameters
    guard let (key, running) = runner.refreshes.task(of: asked.token, calledBy: call.peer),
      let name = running.app.commands[key.task].rememberedName
    else { return call.fail(RefreshdInterface.NoSuchToken()) }
    guard asked.url == name else { return call.fail(InvalidParameter(parameter: "url")) }
    for (name, text) in [("etag", asked.etag), ("last_modified", asked.lastModified), ("digest", asked.digest)] {
      if let text, text.utf8.count > ReportBounds.longestValidator || text.utf8.contains(where: { $0 < 0x20 }) {
        return call.fail(InvalidParameter(parameter: name))
      }
    }
    if let final = asked.finalURL,
      final.utf8.count > ReportBounds.longestURL || final.utf8.contains(where: { $0 < 0x20 })
    {
      return call.fail(InvalidParameter(parameter: "final_url"))
    }
    remember(
      Validator(finalURL: asked.finalURL, etag: asked.etag, lastModified: asked.lastModified, digest: asked.digest),
      of: running.app.id, asked.url
    ) { problem in call.conclude(problem) { WorkerInterface.Remember.Reply() } }
  }

  /// Keeps a validator, and calls back when it is stored; restores the earlier validator if that fails.
  func remember(
    _ validator: Validator, of app: AppID, _ url: String, then promise: @escaping (StoreError?) -> Void
  ) {
    let before = runner.fetches.validator(of: app, url)
    runner.fetches.remember(validator, of: app, url)
    saving.promise { problem, _ in
      if problem != nil, self.runner.fetches.validator(of: app, url) == validator {
        self.runner.fetches.remember(before, of: app, url)
      }
      promise(problem)
    }
  }

  /// Reports the progress of the token's task to the clients that watch.
  func progress(_ call: Call<WorkerInterface.Progress.Parameters>) {
    guard let (key, running) = runner.refreshes.task(of: call.parameters.token, calledBy: call.peer) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    audience.watchers.report(
      progress: OutputLines.message(of: call.parameters.text), of: running.app.policy.tasks[key.task].name,
      key.refresh, of: running.app.id)
    call.reply(WorkerInterface.Progress.Reply())
  }

  /// Takes a keeper's report, and answers when it is saved: the keeper touches its unit only after that.
  func keep(_ call: Call<WorkerInterface.Keep.Parameters>) {
    let asked = call.parameters
    core.readClocks()
    guard guards.noteReport(asked.token, isKept: asked.isKept, asked.text, from: call.peer.uid) else {
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    saving.afterCommit { call.reply() }
    saving.commitSoon()
  }
}
