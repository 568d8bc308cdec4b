import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Reports changes of transfers until the connection ends.
  func watchTransfers(_ call: Call<TransfersInterface.Watch.Parameters>) {
    if let name = call.parameters.app, !mayAsk(about: name, for: call) { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    transfers.watchers.add(.watch(call, call.parameters.app.flatMap(AppID.init)), until: call)
  }

  /// Reports changes of a session of transfers to its one handler, a process of the app.
  func rejoin(_ call: Call<TransfersInterface.Rejoin.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    guard hasShortSession(call.parameters.session, call) else { return }
    let session = TransferSession(app: app.id, name: call.parameters.session)
    guard !transfers.watchers.isTaken(session) else {
      return call.fail(TransfersInterface.SessionTaken(app: call.parameters.app, session: session.name))
    }
    transfers.watchers.add(.rejoin(call, session), until: call)
  }
}
