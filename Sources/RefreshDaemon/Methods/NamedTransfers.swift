import RefreshAPI
import RefreshEngine
import Varlink

// The names in calls about transfers.

extension Daemon {
  /// Whether the caller may ask about the transfers of an app, also of a former app; answers the call if not.
  func mayAsk<Parameters>(about name: String, for call: Call<Parameters>) -> Bool {
    guard let app = AppID(name), core.may(call.peer, about: app) else {
      if core.access.mayAll(call.peer) {
        call.fail(RefreshdInterface.NoSuchApp(app: name))
      } else {
        call.fail(core.access.refusal(of: call.peer, app: name))
      }
      return false
    }
    guard core.configuration[app] != nil || core.engine.state(of: app) != nil else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return false
    }
    return true
  }

  /// Whether a transfer can have this session name; answers the call if not.
  func hasShortSession<Parameters>(_ name: String?, _ call: Call<Parameters>) -> Bool {
    guard let name, name.utf8.count > CheckedTransfer.longestText else { return true }
    call.fail(InvalidParameter(parameter: "session"))
    return false
  }
}
