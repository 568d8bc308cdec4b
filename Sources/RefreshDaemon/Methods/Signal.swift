import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// Applies a lifecycle signal; with a lease, until the connection ends.
  ///
  /// `login` and `logout` are answered when they are on the disk, the other signals at once.
  func signal(_ call: Call<AppInterface.Signal.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let signal = Signal(call.parameters.signal)
    if call.parameters.lease == true { return lease(signal, of: app.id, call) }
    switch signal {
    case .login, .logout: logInOrOut(signal, of: app.id, call)
    case .launched, .foreground, .background, .terminated:
      audience.changePhase(of: app.id) { core.handle(.signalled(app.id, signal)) }
      answer(call, app.id)
    }
  }

  /// Logs the app in or out, and answers when that is on the disk.
  private func logInOrOut(_ signal: Signal, of app: AppID, _ call: Call<AppInterface.Signal.Parameters>) {
    audience.changePhase(of: app) {
      handleDurably([.signalled(app, signal)]) { problem in
        guard let problem else {
          if signal == .logout, self.core.engine.phase(of: app) == .loggedOut {
            self.audience.runCalls.giveUp(app, .loggedOut)
          }
          return self.answer(call, app)
        }
        call.fail(RefreshdInterface.NotStored(problem: problem.description))
      }
    }
  }

  private func lease(_ signal: Signal, of app: AppID, _ call: Call<AppInterface.Signal.Parameters>) {
    guard signal == .foreground || signal == .launched else {
      return call.fail(AppInterface.NotLeasable(signal: call.parameters.signal))
    }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    audience.lease(signal, of: app, call)
    if let phase = core.engine.phase(of: app) {
      call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase)), continues: true)
    }
  }

  private func answer(_ call: Call<AppInterface.Signal.Parameters>, _ app: AppID) {
    guard let phase = core.engine.phase(of: app) else {
      return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
    }
    call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase)))
  }
}
