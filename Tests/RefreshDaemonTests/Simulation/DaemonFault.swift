import RefreshEngine

@testable import RefreshDaemon
@testable import RefreshStore

/// Faults that the daemon's parts, or the code behind its ports, could have.
enum DaemonFault: CaseIterable {
  case performsBeforeSave, forgetsRefusedSave, dropsChangeAfterRefusal, losesAcknowledgedSave, savesNoEnds,
    savesEndsTwice, releasesBeforeSave, promisesEarly, forgetsPromise, losesPushesAtRefusal, losesPushes, startsTwice,
    losesStarts, losesTerminations, losesKills, losesEnds, retriesWithoutPause, sleepsThroughWakes, doesNotHearSleep,
    doesNotHearConditions, leavesOrphans, signalsWaitForDisk, callersWaitForDisk,
    syncsNothing, losesSyncedSaves, doesNotHearHangUps, tellsAllPerformers, mixesUpOutcomes, forgetsRetries,
    losesTransferEnds, losesTransfers, takesEndsBack, forgetsToldSessions, countsBytesTwice,
    losesReports, reportsTwice, takesNoForYes, findsNoRoom, keepsUnits, losesChanges, doesNotHearLogouts

  /// The promises that catch the fault: one of them must be broken.
  var caughtBy: Set<DaemonPromise> {
    switch self {
    case .performsBeforeSave: [.startIsSavedFirst]
    case .forgetsRefusedSave: [.memoryIsDisk, .endIsSavedBeforeRelease]
    case .dropsChangeAfterRefusal: [.memoryIsDisk, .startIsSavedFirst]
    case .losesAcknowledgedSave: [.storeLoadsWhatWasSaved]
    case .savesNoEnds: [.oneOutcome, .endIsSavedBeforeRelease]
    case .savesEndsTwice: [.oneOutcome]
    case .releasesBeforeSave: [.endIsSavedBeforeRelease]
    case .promisesEarly: [.requestIsOnDisk]
    case .forgetsPromise: [.requestsAreAnswered]
    case .losesPushesAtRefusal: [.memoryIsDisk]
    case .losesPushes: [.requestIsOnDisk, .pushIsKept]
    case .startsTwice: [.oneRefreshPerApp]
    case .losesStarts: [.everythingDueIsDone, .changesAreFollowed]
    case .losesEnds: [.everythingDueIsDone]
    case .losesTerminations, .losesKills: [.stopsInTime]
    case .retriesWithoutPause: [.noSpin]
    case .sleepsThroughWakes: [.stopsInTime, .everythingDueIsDone, .sleepFindsNothing, .requestsAreAnswered]
    case .doesNotHearSleep: [.sleepFindsNothing]
    case .doesNotHearConditions: [.startsMeetConstraints, .everythingDueIsDone, .guardHolds]
    case .leavesOrphans: [.oneRefreshPerApp, .slotsAreBounded]
    case .signalsWaitForDisk: [.stopsInTime, .sleepFindsNothing]
    case .callersWaitForDisk: [.requestsAreAnswered]
    case .syncsNothing: [.requestIsOnDisk, .transferEndIsOnDisk]
    case .losesSyncedSaves: [.storeLoadsWhatWasSaved]
    case .doesNotHearHangUps: [.phaseEndsWithLease]
    case .tellsAllPerformers: [.oneTellsOnePerformer]
    case .mixesUpOutcomes: [.performerDecides, .endsAreTold]
    case .forgetsRetries: [.lostPerformerIsRetried, .memoryIsDisk]
    case .losesTransferEnds: [.transferEndIsOnDisk]
    case .losesTransfers: [.requestIsOnDisk]
    case .takesEndsBack: [.transferEndsOnce]
    case .forgetsToldSessions: [.transferEndIsToldOnce]
    case .countsBytesTwice: [.bytesAreCountedOnce]
    case .losesReports, .reportsTwice: [.endsAreTold]
    case .takesNoForYes: [.yesComesFirst]
    case .findsNoRoom: [.roomIsFound]
    case .keepsUnits: [.guardHolds]
    case .losesChanges: [.changesAreFollowed]
    case .doesNotHearLogouts: [.absentUserRests]
    }
  }

  /// The seed that is tried first, because it catches the fault; if decisions change, another seed catches it.
  var firstSeed: Int {
    switch self {
    case .losesPushesAtRefusal, .leavesOrphans: 2
    default: 1
    }
  }

  /// Plants a mistake in a part of an open daemon; the other mistakes are in the ports.
  func plant(in life: DaemonLife, _ world: SimulatedWorld) {
    let saving = life.daemon.saving
    switch self {
    case .dropsChangeAfterRefusal:
      spoil(saving) { [unowned world] batch in
        if world.disk.hasRefused, let app = batch.states.keys.min() { batch.states[app] = nil }
      }
    case .savesNoEnds: spoil(saving) { batch in batch.changes.history.refreshes = [] }
    case .losesPushesAtRefusal:
      spoil(saving) { [unowned world] batch in if world.disk.hasRefused { batch.changes.pushes = [:] } }
    case .losesPushes: spoil(saving) { batch in batch.arrived = [] }
    case .losesStarts:
      filter(life) { work in
        if case .start(let refresh, _, _, _) = work.effect, refresh.run.number.isMultiple(of: 5) { [] } else { [work] }
      }
    case .losesTerminations: filter(life) { work in if case .terminate = work.effect { [] } else { [work] } }
    case .losesKills: filter(life) { work in if case .kill = work.effect { [] } else { [work] } }
    case .mixesUpOutcomes:
      spoil(saving) { batch in
        for index in batch.changes.history.refreshes.indices
        where batch.changes.history.refreshes[index].outcome == .newData {
          batch.changes.history.refreshes[index].outcome = .noData
        }
      }
    case .forgetsRetries:
      spoil(saving) { batch in
        for record in batch.changes.history.refreshes where record.outcome == .failed(.lostClient) {
          batch.states[record.app]?.failures = 0
          batch.states[record.app]?.request = nil
        }
      }
    case .losesTransferEnds:
      spoil(saving) { batch in batch.transfers.states = batch.transfers.states.filter { !$1.isEnded } }
    case .losesTransfers: spoil(saving) { batch in batch.transfers.whole = [:] }
    case .takesEndsBack:
      spoil(saving) { batch in
        for (id, state) in batch.transfers.states where state.isDelivered {
          batch.transfers.states[id]?.stage = .paused
        }
      }
    case .forgetsToldSessions:
      spoil(saving) { batch in
        for id in batch.transfers.states.keys { batch.transfers.states[id]?.isDelivered = false }
      }
    case .losesReports:
      filter(life) { work in
        if case .reportEnd(let report, _) = work.effect, report.record.id.run.number.isMultiple(of: 3) {
          []
        } else {
          [work]
        }
      }
    case .reportsTwice:
      filter(life) { work in if case .reportEnd = work.effect { [work, work] } else { [work] } }
    case .keepsUnits: filter(life) { work in if case .giveBack = work.effect { [] } else { [work] } }
    case .signalsWaitForDisk: life.wrap { SignalsWaitForDisk($0, world) }
    default: break
    }
  }

  private func spoil(_ saving: Saving, _ change: @escaping (inout Batch) -> Void) {
    guard let last = saving.parts.popLast() else { return }
    saving.parts.append(SpoilingPart(last, change))
  }

  private func filter(_ life: DaemonLife, _ change: @escaping (PendingCommit.Work) -> [PendingCommit.Work]) {
    life.wrap { FilteredWork($0, change) }
  }
}

/// The daemon without some of its effects, or with some performed late.
class WrappedDaemon: DaemonDelegate {
  fileprivate let daemon: any DaemonDelegate

  init(_ daemon: any DaemonDelegate) { self.daemon = daemon }

  func perform(_ work: [PendingCommit.Work]) { daemon.perform(work) }
  func erased(_ apps: Set<AppID>) { daemon.erased(apps) }
  func replace(by next: ConfigurationInForce) { daemon.replace(by: next) }
  func needsChanged() { daemon.needsChanged() }
  func statusChanged() { daemon.statusChanged() }
  func leaveIfDone() { daemon.leaveIfDone() }
}

/// Changes what is performed.
private final class FilteredWork: WrappedDaemon {
  private let change: (PendingCommit.Work) -> [PendingCommit.Work]

  init(_ daemon: any DaemonDelegate, _ change: @escaping (PendingCommit.Work) -> [PendingCommit.Work]) {
    self.change = change
    super.init(daemon)
  }

  override func perform(_ work: [PendingCommit.Work]) { daemon.perform(work.flatMap(change)) }
}

/// Performs signals only while no save is under way.
private final class SignalsWaitForDisk: WrappedDaemon {
  private unowned let world: SimulatedWorld

  init(_ daemon: any DaemonDelegate, _ world: SimulatedWorld) {
    self.world = world
    super.init(daemon)
  }

  override func perform(_ work: [PendingCommit.Work]) {
    guard world.disk.isBusy, work.contains(where: { !$0.effect.isSavedFirst }) else { return daemon.perform(work) }
    world.later(.seconds(1)) { [unowned self] in perform(work) }
  }
}

/// A part that spoils the batch after it has added its changes; the last part sees all of it.
private final class SpoilingPart: SavedPart {
  private let part: any SavedPart
  private let change: (inout Batch) -> Void

  init(_ part: any SavedPart, _ change: @escaping (inout Batch) -> Void) { (self.part, self.change) = (part, change) }

  var hasChanges: Bool { part.hasChanges }

  func moveChanges(into batch: inout Batch) {
    part.moveChanges(into: &batch)
    change(&batch)
  }

  func markAllChanged() { part.markAllChanged() }
}
