import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Refreshes an app now, or once more after the refresh that is running, and tells how that goes.
  func run(_ call: Call<ManagerInterface.Run.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let holds = lastingHolds(on: app.id)
    guard holds.isEmpty else {
      let name = app.id.description
      return call.fail(ManagerInterface.Held(app: name, holds: holds.map { $0.wire(of: name) }))
    }
    var before: RefreshID?
    if case .refreshing(let refresh) = engine.verdict(on: app.id, at: Moment.now().instant) {
      before = refresh
      if call.wantsMore { call.reply(ManagerInterface.Run.Reply(event: .queued), continues: true) }
    }
    refreshes.wait(call, for: app.id, after: before)
    handle(.requested(app.id, call.parameters.trigger.map(Trigger.init) ?? .manual))
  }

  /// Does what may make the engine drop a request, such as one for another phase, and asks again for who waits.
  func keepingRuns(_ change: () -> Void) {
    let before = refreshes.awaited.map { ($0, engine.state(of: $0)) }
    change()
    for (app, before) in before {
      let after = engine.state(of: app)
      let isDropped = before?.request != nil && after?.request == nil && after?.running == before?.running
      if isDropped, lastingHolds(on: app).isEmpty { handle(.requested(app, .manual)) }
    }
  }

  /// What keeps the app from being refreshed also when a person asks, and when what is running has ended.
  private func lastingHolds(on app: AppID) -> [Hold] {
    var holds: [Hold] = []
    if engine.phase(of: app) == .loggedOut { holds.append(.loggedOut) }
    if engine.isStopping { holds.append(.stopping) }
    return holds
  }
}
