import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Has a process of an app follow a session, which no other connection follows (FEATURES F2).
  func rejoin(_ call: Call<TransfersInterface.Rejoin.Parameters>) {
    guard let app = app(named: call.parameters.app, forTransfersOf: call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    let session = TransferSession(app: app.id, name: call.parameters.session)
    guard !transfers.watchers.isTaken(session) else {
      return call.fail(TransfersInterface.SessionTaken(app: call.parameters.app, session: session.name))
    }
    transfers.watchers.add(.rejoin(call, session), until: call)
  }
}
