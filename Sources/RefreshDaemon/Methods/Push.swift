import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Accepts a push for an app, and answers when the push is on the disk.
  func push(_ call: Call<AppInterface.Push.Parameters>) {
    let asked = call.parameters
    guard let app = refreshedApp(named: asked.app, for: call) else { return }
    guard asked.id.map(CheckedPush.isMessage) ?? true else { return call.fail(InvalidParameter(parameter: "id")) }
    let payload: PushPayload
    do throws(AppInterface.InvalidPayload) { payload = try PushPayload(asked.payload) } catch {
      pushes.noteRefused()
      return call.fail(error)
    }
    pushes.accept([CheckedPush(app: app.id, payload: payload, urgency: asked.urgency, message: asked.id)]) { outcome in
      switch outcome {
      case .failure(let reason): call.fail(RefreshdInterface.NotStored(problem: reason.problem))
      case .success(let accepted):
        guard let push = accepted.first, let fate = push.fate else {
          return call.fail(RefreshdInterface.NoSuchApp(app: asked.app))
        }
        call.reply(
          AppInterface.Push.Reply(
            fate: fate, waiting: push.waiting,
            earliestMicroseconds: push.earliest.map(self.core.wall)))
      }
    }
  }
}
