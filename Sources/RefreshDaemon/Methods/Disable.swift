import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Keeps apps from being refreshed until they are enabled: all that are named, or none.
  func disable(_ call: Call<ManagerInterface.Disable.Parameters>) {
    guard let apps = apps(named: call.parameters.apps, for: call) else { return }
    flip(apps, isDisabled: true, for: call) { ManagerInterface.Disable.Reply(apps: $0) }
    for app in apps { audience.runCalls.giveUp(app.id, .disabled) }
  }

  /// Turns the user's switch of apps and answers when that is on disk; what cannot be stored is taken back.
  func flip<Parameters>(
    _ apps: [AppConfiguration], isDisabled: Bool, for call: Call<Parameters>,
    reply: @escaping ([Wire.App]) -> some Encodable
  ) {
    let changes = apps.map { Event.disabled($0.id, isDisabled) }
    var undo: [Event] = []
    for app in apps {
      let before = core.engine.state(of: app.id)
      undo.append(.disabled(app.id, before?.isDisabled ?? false))
      // To disable an app also forgets what was asked for at a later time.
      if let oneShot = before?.oneShot { undo.append(.scheduled(app.id, oneShot)) }
    }
    change(changes, undo: undo, for: call) { reply(self.rows(of: apps)) }
  }
}
