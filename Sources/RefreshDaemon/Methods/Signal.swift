import RefreshAPI
import RefreshConfig
import RefreshEngine
import Varlink

extension Daemon {
  /// Takes a lifecycle signal; with a lease, until the connection ends.
  ///
  /// `login` and `logout` are switches, and a switch that was answered is on disk (DESIGN section 7); the others are
  /// answered at once.
  func signal(_ call: Call<AppInterface.Signal.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    let signal = Signal(call.parameters.signal)
    if call.parameters.lease == true { return lease(signal, of: app.id, call) }
    switch signal {
    case .login, .logout:
      flip(signal, of: app.id, call)
      if signal == .logout { giveUpWaiting(for: app.id, .loggedOut) }
    case .launched, .foreground, .background, .terminated:
      changePhase(of: app.id) { handle(.signalled(app.id, signal)) }
      answer(call, app.id)
    }
  }

  /// Flips the switch and answers when that is on disk; what cannot be stored is taken back.
  private func flip(_ signal: Signal, of app: AppID, _ call: Call<AppInterface.Signal.Parameters>) {
    let before: Signal = engine.phase(of: app) == .loggedOut ? .logout : .login
    changePhase(of: app) {
      handleDurably([.signalled(app, signal)]) { problem in
        guard let problem else { return self.answer(call, app) }
        self.changePhase(of: app) { self.handle(.signalled(app, before)) }
        call.fail(RefreshdInterface.NotStored(problem: problem.description))
      }
    }
  }

  private func lease(_ signal: Signal, of app: AppID, _ call: Call<AppInterface.Signal.Parameters>) {
    guard signal == .foreground || signal == .launched else {
      return call.fail(AppInterface.NotLeasable(signal: call.parameters.signal))
    }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    let lease = leases.add(call, of: app)
    call.onDisconnect {
      self.leases.remove(lease, of: app)
      self.changePhase(of: app) { self.handle(.leaseEnded(lease, app)) }
    }
    changePhase(of: app) { handle(.leased(lease, app, signal)) }
    if let phase = engine.phase(of: app) {
      call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase)), continues: true)
    }
  }

  /// Does what may change the app's phase, and tells the journal if it did.
  func changePhase(of app: AppID, _ change: () -> Void) {
    let before = engine.phase(of: app)
    keepingRuns(change)
    guard let after = engine.phase(of: app), after != before else { return }
    journal.changedPhase(of: app, to: after)
    tellWatchers(of: after, of: app)
    tellAttached(of: after, of: app)
  }

  private func answer(_ call: Call<AppInterface.Signal.Parameters>, _ app: AppID) {
    guard let phase = engine.phase(of: app) else {
      return call.fail(RefreshdInterface.NoSuchApp(app: call.parameters.app))
    }
    call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase)))
  }

  /// The app that the call is about, if the caller may signal for it; else the call is answered.
  private func app(named name: String, for call: Call<AppInterface.Signal.Parameters>) -> AppConfiguration? {
    guard let app = AppID(name).flatMap({ configuration[$0] }) else {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
      return nil
    }
    guard access.may(call.peer, about: app) else {
      call.fail(RefreshdInterface.NotAllowed(app: name, remedy: access.remedy(for: app)))
      return nil
    }
    return app
  }
}
