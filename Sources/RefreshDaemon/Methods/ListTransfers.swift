import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Lists the transfers that the caller may ask about, in order of their numbers.
  func listTransfers(_ call: Call<TransfersInterface.List.Parameters>) {
    let named = call.parameters.app
    if let named, !mayAsk(about: named, for: call) { return }
    let now = readClocks()
    let found = engine.transferIDs.compactMap { id -> Wire.Transfer? in
      guard let session = engine.transferState(of: id)?.policy.session, may(call.peer, about: session.app),
        named == nil || named == session.app.description,
        call.parameters.session == nil || call.parameters.session == session.name
      else { return nil }
      return wire(id, at: now)
    }
    call.reply(TransfersInterface.List.Reply(transfers: found))
  }

  /// Whether the caller may ask about the transfers of an app that is there, or was; else the call is answered.
  func mayAsk<Parameters>(about name: String, for call: Call<Parameters>) -> Bool {
    let app = AppID(name)
    guard let app, configuration[app] != nil || engine.state(of: app) != nil else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return false
    }
    guard may(call.peer, about: app) else {
      call.fail(RefreshdInterface.NotAllowed(app: name, remedy: remedy(for: app)))
      return false
    }
    return true
  }

  /// The app of a call, if it is configured and the caller may ask about it; else the call is answered.
  func app<Parameters>(named name: String, forTransfersOf call: Call<Parameters>) -> AppConfiguration? {
    guard let app = AppID(name).flatMap({ configuration[$0] }) else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return nil
    }
    return mayAsk(about: name, for: call) ? app : nil
  }

  /// What would help somebody who may not ask about the transfers of an app.
  func remedy(for app: AppID) -> String { configuration[app].map(access.remedy) ?? access.remedy }
}
