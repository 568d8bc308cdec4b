import RefreshAPI
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

}
