import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Lists the transfers that the caller may ask about, in order of their numbers.
  func listTransfers(_ call: Call<TransfersInterface.List.Parameters>) {
    let named = call.parameters.app
    if let named, !mayAsk(about: named, for: call) { return }
    guard hasShortSession(call.parameters.session, call) else { return }
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
}
