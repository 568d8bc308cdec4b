import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Refreshes an app now, or once more after the refresh that is running, and tells how that goes.
  func run(_ call: Call<ManagerInterface.Run.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let holds = lastingHolds(on: app.id)
    guard holds.isEmpty else {
      return call.fail(ManagerInterface.Held(app: app.id.description, holds: wire(holds, of: app.id)))
    }
    var before: RefreshID?
    if case .refreshing(let refresh) = engine.verdict(on: app.id, at: Moment.now().instant) {
      before = refresh
      if call.wantsMore { call.reply(ManagerInterface.Run.Reply(event: .init(kind: .queued)), continues: true) }
    }
    refreshes.wait(call, for: app.id, after: before)
    handle(.requested(app.id, call.parameters.trigger.map(Trigger.init) ?? .manual))
    if before == nil, call.wantsMore, case .held(let holds) = engine.verdict(on: app.id, at: Moment.now().instant) {
      call.reply(ManagerInterface.Run.Reply(event: .init(kind: .held, holds: wire(holds, of: app.id))), continues: true)
    }
  }

  /// Holds on an app as the socket shows them.
  func wire(_ holds: [Hold], of app: AppID) -> [Wire.Hold] {
    holds.map { $0.wire(of: app.description, wallOffset: engine.wallOffset) }
  }

  /// Does what may make the engine drop a request, such as one for another phase, and asks again for who waits.
  func keepingRuns(_ change: () -> Void) {
    let before = refreshes.awaited.map { ($0, engine.state(of: $0)) }
    change()
    for (app, before) in before {
      let after = engine.state(of: app)
      let isDropped = before?.request != nil && after?.request == nil && after?.running == before?.running
      if isDropped, !engine.isStopping { handle(.requested(app, .manual)) }
    }
  }

  /// What keeps the app from being refreshed also when a person asks, and when what is running has ended.
  func lastingHolds(on app: AppID) -> [Hold] {
    engine.lastingHolds(on: app)
  }
}
