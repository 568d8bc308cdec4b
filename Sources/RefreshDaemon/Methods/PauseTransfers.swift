import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Keeps transfers from going on until they are resumed (FEATURES F7).
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

  /// The transfers of a call, if they are there, are not over, and the caller may ask about each; else the call is
  /// answered.
  func transfers<Parameters>(_ numbers: [Int64], of call: Call<Parameters>) -> [TransferID]? {
    guard (1...Self.callLimit).contains(numbers.count) else {
      call.fail(InvalidParameter(parameter: "ids"))
      return nil
    }
    var ids: [TransferID] = []
    for number in numbers {
      guard let id = UInt64(exactly: number).map(TransferID.init), let state = core.engine.transferState(of: id) else {
        call.fail(TransfersInterface.NoSuchTransfer(id: number))
        return nil
      }
      let app = state.policy.app
      guard core.may(call.peer, about: app) else {
        call.fail(TransfersInterface.NotAllowed(app: app.description, remedy: remedy(for: app)))
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

  /// Handles events about transfers and answers when that is on disk; what cannot be stored is taken back.
  ///
  /// While it is known that nothing can be stored, nothing is begun that could not be taken back.
  func steer<Parameters>(_ events: [Event], undo: [Event], for call: Call<Parameters>) {
    if let problem = saving.problem {
      return call.fail(TransfersInterface.NotStored(problem: problem.description))
    }
    handleDurably(events) { problem in
      guard let problem else { return call.reply() }
      for event in undo { self.handle(event) }
      call.fail(TransfersInterface.NotStored(problem: problem.description))
    }
  }
}
