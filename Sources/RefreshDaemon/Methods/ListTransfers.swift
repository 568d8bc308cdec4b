import RefreshAPI
import RefreshConfig
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

  /// The app of a call, if it is configured and the caller may ask about it; if not, the call is answered.
  func app<Parameters>(named name: String, forTransfersOf call: Call<Parameters>) -> AppConfiguration? {
    guard let app = AppID(name).flatMap({ core.configuration[$0] }) else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return nil
    }
    return mayAsk(about: name, for: call) ? app : nil
  }

  /// The remedy for a caller that may not ask about the transfers of an app.
  func remedy(for app: AppID) -> String { core.configuration[app].map(core.access.remedy) ?? core.access.remedy }
}
