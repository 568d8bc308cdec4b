import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Reports events until the connection ends.
  func watch(_ call: Call<ManagerInterface.Watch.Parameters>) {
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    guard call.peer.confinement != .fromAll else {
      return call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy(for: call.peer)))
    }
    var named: Set<AppID>?
    if let names = call.parameters.apps {
      guard let apps = apps(named: names, for: call) else { return }
      named = Set(apps.map(\.id))
    }
    audience.watchers.add(call, of: named)
  }
}
