import JSON
import RefreshEngine
import RefreshStore

@testable import RefreshDaemon

/// The replies and events that programs receive over the daemon's socket, and the promises to the programs.
final class ClientBook {
  /// A refresh that the daemon sent to a process.
  private struct Performance {
    let process: Int
    var isCancelled = false
    var hasLeft = false
    /// The outcome that the daemon has accepted.
    var outcome: String?
  }

  private unowned let world: SimulatedWorld
  private var leases: [Int: AppID] = [:]
  private var performances: [String: Performance] = [:]
  private var accepted: Set<TransferID> = []
  /// The transfers whose ends each refresh reports.
  private var tells: [RefreshID: [TransferID]] = [:]

  init(_ world: SimulatedWorld) { self.world = world }

  private func fail(_ promise: DaemonPromise, _ text: String) { world.book.fail(promise, text) }

  /// The daemon is gone, with all connections.
  func lost() { (leases, performances) = ([:], [:]) }

  // MARK: - Leases

  func holds(_ lease: Int, _ app: AppID) { leases[lease] = app }
  func releases(_ lease: Int, _ app: AppID) { leases[lease] = nil }

  // MARK: - Attached processes

  func performs(_ refresh: String, _ process: Int, _ event: JSONValue) {
    if let other = performances[refresh] {
      fail(.oneTellsOnePerformer, "\(refresh) is told to \(process) after \(other.process)")
    }
    performances[refresh] = Performance(process: process)
    guard event["trigger"]?.string == "transfer", let id = RefreshID(refresh) else { return }
    tells(event["payload"]?.string ?? "", in: id)
  }

  func cancelled(_ refresh: String) { performances[refresh]?.isCancelled = true }

  func completed(_ refresh: String, _ outcome: String) { performances[refresh]?.outcome = outcome }

  func left(_ process: Int) {
    for (refresh, performance) in performances where performance.process == process {
      if !performance.isCancelled, performance.outcome == nil { performances[refresh]?.hasLeft = true }
    }
  }

  private func check(_ record: RefreshRecord, _ batch: Batch) {
    guard let performance = performances.removeValue(forKey: record.id.description) else { return }
    if let said = performance.outcome {
      let isSo =
        switch said {
        case "new_data": record.outcome == .newData
        case "no_data": record.outcome == .noData
        default: !record.outcome.isFresh
        }
      if !isSo { fail(.performerDecides, "\(record.id) was \(said), and is \(record.outcome)") }
    } else if performance.hasLeft {
      let state = batch.states[record.app]
      let isLast = batch.changes.history.refreshes.last { $0.app == record.app }?.id == record.id
      let isRetried = state.map { $0.failures > 0 || $0.request != nil || $0.running != nil } ?? false
      if record.outcome != .failed(.lostClient) || isLast && !isRetried {
        fail(.lostPerformerIsRetried, "\(record.id) is \(record.outcome), and then \(String(describing: state))")
      }
    }
  }

  // MARK: - Transfers

  /// The transfers that the daemon has accepted, without those that have ended.
  var openTransfers: [TransferID] {
    accepted.filter { world.disk.model.transfers[$0].map { !$0.state.isEnded } ?? false }.sorted()
  }

  func accepted(_ ids: [Int64]) {
    for id in ids.map({ TransferID(UInt64($0)) }) {
      accepted.insert(id)
      if !world.disk.synced.knownTransfers.contains(id) {
        fail(.requestIsOnDisk, "transfer \(id) was accepted and would not outlive a loss of power")
      }
    }
  }

  /// Notes that the daemon gives a transfer to a worker.
  func given(_ id: TransferID, to worker: ProcessKey, beside others: [ProcessKey]) {
    if !others.isEmpty { fail(.oneWorkerPerTransfer, "\(worker) is given transfer \(id), which \(others) have") }
    if !world.disk.model.knownTransfers.contains(id) {
      fail(.requestIsOnDisk, "transfer \(id) runs, and was never saved")
    }
  }

  /// Notes the reply to a worker's report, after which the worker may forget the transfer.
  func reported(_ id: TransferID, isDone: Bool) {
    guard isDone, let daemon = world.life?.daemon else { return }
    if world.fault == .countsBytesTwice { daemon.core.tally.note(moved: 1_000_000) }
    guard daemon.saving.problem == nil, let state = world.disk.synced.transfers[id]?.state, !state.isEnded else {
      return
    }
    fail(.transferEndIsOnDisk, "transfer \(id) is \(state.stage) after a loss of power")
  }

  func started(_ launch: TaskLaunch) {
    guard launch.environment.contains("REFRESH_TRIGGER=transfer") else { return }
    tells(launch.input.map { String(decoding: $0, as: UTF8.self) } ?? "", in: launch.key.refresh)
  }

  /// Notes that a refresh reports the transfers of a session, a line for each.
  private func tells(_ payload: String, in refresh: RefreshID) {
    let model = world.disk.model
    var ids: [TransferID] = []
    for (id, transfer) in model.transfers where payload.contains("\(transfer.request.url)\"") {
      ids.append(id)
      // On a full disk the daemon goes on in memory.
      if !transfer.state.isEnded, world.life?.daemon.saving.problem == nil {
        fail(.transferEndIsOnDisk, "\(refresh) tells of transfer \(id), which has not ended")
      }
      if model.toldTransfers.contains(id) { fail(.transferEndIsToldOnce, "\(refresh) tells of transfer \(id) again") }
    }
    tells[refresh] = ids
  }

  // MARK: - Saves

  /// A batch is about to be saved.
  func saves(_ batch: Batch) {
    let states = batch.transfers.whole.mapValues(\.state).merging(batch.transfers.states) { _, later in later }
    for (id, state) in states {
      guard case .ended(let before, _) = world.disk.model.transfers[id]?.state.stage else { continue }
      if case .ended(before, _) = state.stage { continue }
      fail(.transferEndsOnce, "transfer \(id) has ended, \(before), and is \(state.stage)")
    }
  }

  func saved(_ batch: Batch) {
    for record in batch.changes.history.refreshes {
      check(record, batch)
      guard let ids = tells[record.id], record.outcome.isFresh, record.tasks.allSatisfy(\.outcome.isFresh) else {
        continue
      }
      world.disk.model.toldTransfers.formUnion(ids)
    }
  }

  // MARK: - Steps

  func check(_ daemon: Daemon) {
    let engine = daemon.core.engine
    // A stopping daemon ends the leases before the programs notice.
    for app in engine.isStopping ? [] : world.apps.map(\.id) {
      guard let state = engine.state(of: app), let phase = engine.phase(of: app), phase != .loggedOut else { continue }
      let isForeground = state.isForeground || leases.values.contains(app)
      if isForeground != (phase == .foreground) {
        fail(.phaseEndsWithLease, "\(app) is in the \(phase) with \(leases.values.count { $0 == app }) leases")
      }
    }
    if daemon.core.tally.moved > world.workers.moved {
      fail(.bytesAreCountedOnce, "\(daemon.core.tally.moved) bytes are counted of \(world.workers.moved)")
    }
  }

  /// Checks what holds of an app at the end, when everything has gone well for long enough.
  func finish(_ app: AppID, _ engine: Engine) {
    for id in accepted.sorted() {
      guard let state = engine.transferState(of: id), state.policy.app == app else { continue }
      if !state.isDelivered { fail(.everythingDueIsDone, "transfer \(id) of \(app) is \(state)") }
    }
  }
}

extension TransferState {
  var isEnded: Bool { if case .ended = stage { true } else { false } }
}
