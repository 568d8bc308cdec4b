import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Lists the transfers that the caller may ask about, in order of their numbers.
  func listTransfers(_ call: Call<TransfersInterface.List.Parameters>) {
    let named = call.parameters.app
    if let named, !mayAsk(about: named, for: call) { return }
    var ids = transfers.ids(of: named.flatMap(AppID.init), for: call.peer)[...]
    var found: [Wire.Transfer] = []
    let step = {
      let now = self.core.readClocks()
      for id in ids.prefix(Self.transfersInTurn) {
        guard let shown = self.transfers.view(of: id, at: now),
          call.parameters.session == nil || call.parameters.session == shown.session
        else { continue }
        found.append(shown)
      }
      ids = ids.dropFirst(Self.transfersInTurn)
      if ids.isEmpty { call.reply(TransfersInterface.List.Reply(transfers: found)) }
      return !ids.isEmpty
    }
    if step() { call.inTurns(step) }
  }

  /// How many transfers are looked at in one turn of the loop, because other callers wait meanwhile.
  static let transfersInTurn = 200

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
