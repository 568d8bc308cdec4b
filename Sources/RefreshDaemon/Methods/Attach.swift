import RefreshAPI
import Varlink

extension Daemon {
  /// Attaches a process, which performs the app's refreshes until the connection ends.
  func attach(_ call: Call<AppInterface.Attach.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    if let full = audience.attached.isFull(for: app.id, call.peer.uid) { return call.fail(full) }
    let lease = audience.attach(call, to: app.id) { self.runner.performerLeft($0) }
    runner.attached(lease, to: app.id)
  }
}
