import RefreshEngine

@testable import RefreshStore

/// The content of the file, kept beside it.
struct DiskModel {
  private(set) var states: [AppID: AppState] = [:]
  private(set) var device = DeviceState()
  private(set) var pushes: [PushID: Push] = [:]
  private(set) var appOfPush: [PushID: AppID] = [:]
  private(set) var transfers: [TransferID: StoredTransfer] = [:]
  /// The payloads of all pushes that were ever saved.
  private(set) var payloads: Set<String> = []
  /// The ids of all transfers that were ever saved.
  private(set) var knownTransfers: Set<TransferID> = []
  /// The refreshes whose start is on the disk.
  private(set) var started: Set<RefreshID> = []
  /// How many outcomes each refresh has.
  private(set) var outcomes: [RefreshID: Int] = [:]
  /// The refreshes of each app that have ended, in the order of their ends.
  private(set) var ended: [AppID: [RefreshID]] = [:]
  /// The pushes that were told by refreshes that have ended, and by those that have succeeded.
  var told: Set<PushID> = []
  var done: Set<PushID> = []
  /// How many refreshes of each app have failed in a row.
  var failures: [AppID: FailureCount] = [:]
  /// The transfers whose ends were told by refreshes that have succeeded.
  var toldTransfers: Set<TransferID> = []

  mutating func apply(_ batch: Batch) {
    states.merge(batch.states) { _, later in later }
    for state in batch.states.values { if let running = state.running { started.insert(running.id) } }
    if let device = batch.device { self.device = device }
    for record in batch.changes.history.refreshes {
      outcomes[record.id, default: 0] += 1
      ended[record.app, default: []].append(record.id)
    }
    for (id, transfer) in batch.transfers.whole {
      transfers[id] = transfer
      knownTransfers.insert(id)
    }
    for (id, state) in batch.transfers.states { transfers[id]?.state = state }
    for (id, progress) in batch.transfers.progress { transfers[id]?.progress = progress }
    for id in batch.transfers.removed { transfers[id] = nil }
    for (id, change) in batch.changes.pushes {
      switch change {
      case .kept(let app, let push): (pushes[id], appOfPush[id]) = (push, app)
      case .gone, .merged: pushes[id] = nil
      }
    }
    for arrived in batch.arrived {
      guard let push = arrived.push else { continue }
      (pushes[arrived.id], appOfPush[arrived.id]) = (push, arrived.app)
      payloads.insert(push.payload)
    }
  }

  /// Another boot starts all units as their own files say.
  mutating func startUnits() { for id in states.keys { states[id]?.keptUnit = nil } }

  /// Takes over what another boot has loaded: the same, at other instants.
  mutating func take(_ loaded: Loaded) {
    for id in states.keys { states[id] = loaded.states[id] ?? states[id] }
    device = loaded.device
    for push in loaded.pushes.values.joined() { pushes[push.id] = push }
    for (id, transfer) in loaded.transfers { transfers[id] = transfer }
  }
}
