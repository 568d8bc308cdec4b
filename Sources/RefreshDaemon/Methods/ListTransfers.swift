import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Lists the transfers that the caller may ask about, in order of their numbers.
  func listTransfers(_ call: Call<TransfersInterface.List.Parameters>) {
    let named = call.parameters.app
    if let named, !mayAsk(about: named, for: call) { return }
    let now = core.readClocks()
    let found = core.engine.transferIDs.compactMap { id -> Wire.Transfer? in
      guard let session = core.engine.transferState(of: id)?.policy.session, core.may(call.peer, about: session.app),
        named == nil || named == session.app.description,
        call.parameters.session == nil || call.parameters.session == session.name
      else { return nil }
      return transfers.view(of: id, at: now)
    }
    call.reply(TransfersInterface.List.Reply(transfers: found))
  }

  /// Whether the caller may ask about the transfers of an app, also of a former one; if not, the call is answered.
  func mayAsk<Parameters>(about name: String, for call: Call<Parameters>) -> Bool {
    let app = AppID(name)
    guard let app, core.configuration[app] != nil || core.engine.state(of: app) != nil else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return false
    }
    guard core.may(call.peer, about: app) else {
      call.fail(RefreshdInterface.NotAllowed(app: name, remedy: remedy(for: app)))
      return false
    }
    return true
  }

  /// The remedy for a caller that may not ask about the transfers of an app.
  func remedy(for app: AppID) -> String { core.configuration[app].map(core.access.remedy) ?? core.access.remedy }
}
