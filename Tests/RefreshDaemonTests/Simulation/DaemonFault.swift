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
    case .losesPushes: [.requestIsOnDisk]
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

  /// Plants a mistake in a part of an open daemon; the other mistakes are in the ports.
  func plant(in life: DaemonLife, _ world: SimulatedWorld) {
    let saving = life.daemon.saving
    switch self {
    case .dropsChangeAfterRefusal:
      spoil(saving) { [unowned world] batch in
        if world.disk.hasRefused, let app = batch.states.keys.min() { batch.states[app] = nil }
      }
    case .savesNoEnds: spoil(saving) { batch in batch.history.refreshes = [] }
    case .losesPushesAtRefusal:
      spoil(saving) { [unowned world] batch in if world.disk.hasRefused { batch.pushes.changed = [:] } }
    case .losesPushes: spoil(saving) { batch in batch.pushes.arrived = [] }
    case .losesStarts:
      filter(saving) { work in
        if case .start(let refresh, _, _, _) = work.effect, refresh.number.isMultiple(of: 5) { [] } else { [work] }
      }
    case .losesTerminations: filter(saving) { work in if case .terminate = work.effect { [] } else { [work] } }
    case .losesKills: filter(saving) { work in if case .kill = work.effect { [] } else { [work] } }
    case .mixesUpOutcomes:
      spoil(saving) { batch in
        for index in batch.history.refreshes.indices where batch.history.refreshes[index].outcome == .newData {
          batch.history.refreshes[index].outcome = .noData
        }
      }
    case .forgetsRetries:
      spoil(saving) { batch in
        for record in batch.history.refreshes where record.outcome == .failed(.lostClient) {
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
      filter(saving) { work in
        if case .reportEnd(let report, _) = work.effect, report.record.id.number.isMultiple(of: 3) {
          []
        } else {
          [work]
        }
      }
    case .reportsTwice:
      filter(saving) { work in if case .reportEnd = work.effect { [work, work] } else { [work] } }
    case .takesNoForYes:
      let hear = life.launcher.onEnd
      life.launcher.onEnd = { [unowned world] key, end in
        hear(key, world.commands.isQuestion(key) ? TaskEnd(exit: .exited(0)) : end)
      }
    case .keepsUnits: filter(saving) { work in if case .giveBack = work.effect { [] } else { [work] } }
    case .doesNotHearLogouts:
      let hear = life.machine.onSessions
      life.machine.onSessions = { hear($0.union([SimulatedSessions.user])) }
    case .signalsWaitForDisk: waitForDisk(saving, world)
    case .doesNotHearSleep: life.machine.onSleep = { _ in }
    case .doesNotHearConditions: life.machine.onChange = { _ in }
    default: break
    }
  }

  private func spoil(_ saving: Saving, _ change: @escaping (inout Batch) -> Void) {
    guard let last = saving.parts.popLast() else { return }
    saving.parts.append(SpoilingPart(last, change))
  }

  /// Makes the daemon perform signals only while no save is under way.
  private func waitForDisk(_ saving: Saving, _ world: SimulatedWorld) {
    let perform = saving.perform
    saving.perform = { [unowned world] in Self.performLater($0, world, perform) }
  }

  private static func performLater(
    _ work: [PendingCommit.Work], _ world: SimulatedWorld, _ perform: @escaping ([PendingCommit.Work]) -> Void
  ) {
    guard world.disk.isBusy, work.contains(where: { !$0.effect.isSavedFirst }) else { return perform(work) }
    world.later(.seconds(1)) { [unowned world] in performLater(work, world, perform) }
  }

  private func filter(_ saving: Saving, _ change: @escaping (PendingCommit.Work) -> [PendingCommit.Work]) {
    let perform = saving.perform
    saving.perform = { perform($0.flatMap(change)) }
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
