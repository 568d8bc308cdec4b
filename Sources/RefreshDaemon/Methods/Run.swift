import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Refreshes an app now, or once more after the running refresh, and reports each step.
  func run(_ call: Call<ManagerInterface.Run.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    // A sync by the app itself starts nothing.
    guard call.parameters.trigger != .reported else { return call.fail(InvalidParameter(parameter: "trigger")) }
    if let payload = call.parameters.payload {
      guard call.parameters.trigger == .push else { return call.fail(InvalidParameter(parameter: "payload")) }
      do throws(AppInterface.InvalidPayload) { _ = try PushPayload(payload) } catch { return call.fail(error) }
    }
    let holds = core.engine.lastingHolds(on: app.id)
    guard holds.isEmpty else {
      return call.fail(ManagerInterface.Held(app: app.id.description, holds: core.engine.wire(holds, of: app.id)))
    }
    let isForced = call.parameters.anyway == true
    guard !isForced || call.parameters.trigger == nil else { return call.fail(InvalidParameter(parameter: "trigger")) }
    var before: RefreshID?
    if case .refreshing(let refresh) = core.engine.verdict(on: app.id, at: core.now) {
      before = refresh
      if call.wantsMore {
        call.reply(
          ManagerInterface.Run.Reply(event: .init(kind: .queued, id: refresh.description)), continues: true)
      }
    }
    audience.runCalls.wait(call, for: app.id, after: before)
    core.handle(isForced ? .forced(app.id) : .requested(app.id, call.parameters.trigger.map(Trigger.init) ?? .manual))
    if before == nil, call.wantsMore, case .held(let holds, _) = core.engine.verdict(on: app.id, at: core.now) {
      call.reply(
        ManagerInterface.Run.Reply(event: .init(kind: .held, holds: core.engine.wire(holds, of: app.id))),
        continues: true)
    }
  }
}
