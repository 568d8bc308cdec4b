import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Pauses transfers until they are resumed.
  func pauseTransfers(_ call: Call<TransfersInterface.Pause.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    let running = ids.filter { !isPaused($0) }
    steer(
      running.map { .transferPaused($0, true) }, undo: running.map { .transferPaused($0, false) }, for: call)
  }

  func isPaused(_ id: TransferID) -> Bool {
    switch core.engine.transferState(of: id)?.stage {
    case .paused, .stopping(.paused): true
    default: false
    }
  }

  /// The transfers of a call, if none has ended and the caller may ask about each; if not, the call is answered.
  func transfers<Parameters>(_ numbers: [Int64], of call: Call<Parameters>) -> [TransferID]? {
    guard (1...Self.callLimit).contains(numbers.count) else {
      call.fail(InvalidParameter(parameter: "ids"))
      return nil
    }
    var ids: [TransferID] = []
    for number in numbers.withoutDuplicates {
      guard let id = UInt64(exactly: number).map(TransferID.init), let state = core.engine.transferState(of: id) else {
        call.fail(TransfersInterface.NoSuchTransfer(id: number))
        return nil
      }
      let app = state.policy.app
      guard core.may(call.peer, about: app) else {
        call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy(for: call.peer)))
        return nil
      }
      if case .ended(let result, _) = state.stage {
        call.fail(TransfersInterface.AlreadyEnded(id: number, result: Wire.TransferResult(result)))
        return nil
      }
      ids.append(id)
    }
    return ids
  }

  /// Handles events about transfers and answers when that is on the disk; a change that cannot be stored is undone.
  ///
  /// While the store cannot be written, the call fails at once: a cancelled transfer cannot be restored.
  func steer<Parameters>(_ events: [Event], undo: [Event], for call: Call<Parameters>) {
    if let problem = saving.problem {
      return call.fail(RefreshdInterface.NotStored(problem: problem.description))
    }
    change(events, undo: undo, for: call) { NoParameters() }
  }

  /// Resumes transfers, also those that wait for a retry or for disk space.
  func resumeTransfers(_ call: Call<TransfersInterface.Resume.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    let paused = ids.filter(isPaused)
    steer(
      ids.flatMap { [.transferPaused($0, false), .roomFound($0)] }, undo: paused.map { .transferPaused($0, true) },
      for: call)
  }

  /// Cancels transfers and removes their partial files.
  func cancelTransfers(_ call: Call<TransfersInterface.Cancel.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    steer(ids.map(Event.transferCancelled), undo: [], for: call)
  }

  /// Sets the priority of transfers.
  func setPriority(_ call: Call<TransfersInterface.SetPriority.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    guard (-100...100).contains(call.parameters.priority) else {
      return call.fail(InvalidParameter(parameter: "priority"))
    }
    let before = ids.compactMap { id in core.engine.transferState(of: id).map { (id, $0.policy.priority) } }
    steer(
      ids.map { .transferPrioritized($0, Int32(call.parameters.priority)) },
      undo: before.map { .transferPrioritized($0, $1) }, for: call)
  }
}
