import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

extension Daemon {
  /// Takes a push for an app, and answers when it is on disk (FEATURES E1).
  func push(_ call: Call<AppInterface.Push.Parameters>) {
    let asked = call.parameters
    guard let app = AppID(asked.app).flatMap({ configuration[$0] }) else {
      return call.fail(RefreshdInterface.NoSuchApp(app: asked.app))
    }
    guard access.may(call.peer, about: app) else {
      return call.fail(RefreshdInterface.NotAllowed(app: asked.app, remedy: access.remedy(for: app)))
    }
    guard asked.id.map(PushOrder.isMessage) ?? true else { return call.fail(InvalidParameter(parameter: "id")) }
    let payload: PushPayload
    do throws(AppInterface.InvalidPayload) { payload = try PushPayload(asked.payload) } catch {
      tally.note(Tally.PushFate.refused)
      return call.fail(error)
    }
    take([PushOrder(app: app.id, payload: payload, urgency: asked.urgency, message: asked.id)]) { outcome in
      switch outcome {
      case .failure(let reason): call.fail(RefreshdInterface.NotStored(problem: reason.problem))
      case .success(let taken):
        guard let taken = taken.first, let fate = taken.fate else {
          return call.fail(RefreshdInterface.NoSuchApp(app: asked.app))
        }
        call.reply(
          AppInterface.Push.Reply(
            fate: fate, waiting: taken.waiting,
            earliestMicroseconds: taken.earliest?.wallMicroseconds(at: self.engine.wallOffset)))
      }
    }
  }
}
