import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Pauses transfers until they are resumed.
  func pauseTransfers(_ call: Call<TransfersInterface.Pause.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    let running = ids.filter { !isPaused($0) }
    change(running.map { .transferPaused($0, true) }, for: call) { NoParameters() }
  }

  private func isPaused(_ id: TransferID) -> Bool {
    switch core.engine.transferState(of: id)?.stage {
    case .paused, .stopping(.paused): true
    default: false
    }
  }

  /// The transfers of a call, if none has ended and the caller may ask about each; answers the call otherwise.
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

  /// Resumes transfers, also transfers that wait for a retry or for disk space.
  func resumeTransfers(_ call: Call<TransfersInterface.Resume.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    change(ids.flatMap { [.transferPaused($0, false), .roomFound($0)] }, for: call) { NoParameters() }
  }

  /// Cancels transfers and removes their partial files.
  func cancelTransfers(_ call: Call<TransfersInterface.Cancel.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    change(ids.map(Event.transferCancelled), for: call) { NoParameters() }
  }

  /// Sets the priority of transfers.
  func setPriority(_ call: Call<TransfersInterface.SetPriority.Parameters>) {
    guard let ids = transfers(call.parameters.ids, of: call) else { return }
    guard (-100...100).contains(call.parameters.priority) else {
      return call.fail(InvalidParameter(parameter: "priority"))
    }
    guard call.parameters.priority <= 0 || call.peer.confinement.sandbox == nil else {
      return call.fail(
        RefreshdInterface.NotAllowed(remedy: "A sandboxed app may give a priority of 0 at most; a person may raise it.")
      )
    }
    change(ids.map { .transferPrioritized($0, Int32(call.parameters.priority)) }, for: call) { NoParameters() }
  }
}
