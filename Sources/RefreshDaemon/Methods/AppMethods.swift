import RefreshAPI
import RefreshEngine
import Varlink

extension Daemon {
  /// The interface of an app, with the handler of each method.
  var appInterface: Interface {
    var interface = Interface(AppInterface.self)
    interface.serve(AppInterface.Signal.self) { self.signal($0) }
    interface.serve(AppInterface.Attach.self) { self.attach($0) }
    interface.serve(AppInterface.Complete.self) { self.complete($0) }
    interface.serve(AppInterface.Push.self, forPeople { self.push($0) })
    interface.serve(AppInterface.Synced.self) { self.synced($0) }
    return interface
  }

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
      core.handle(.signalled(app.id, signal))
      answer(call, app.id)
    }
  }

  /// Logs the app in or out, and answers when that is on the disk.
  private func logInOrOut(_ signal: Signal, of app: AppID, _ call: Call<AppInterface.Signal.Parameters>) {
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

  /// Attaches a process, which performs the app's refreshes until the connection ends.
  func attach(_ call: Call<AppInterface.Attach.Parameters>) {
    guard let app = app(named: call.parameters.app, for: call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    if let full = audience.attached.isFull(for: app.id, call.peer.uid) { return call.fail(full) }
    let lease = audience.attach(call, to: app.id) { self.runner.performerLeft($0) }
    runner.attached(lease, to: app.id)
  }

  /// Accepts a task's own report of its outcome; the token identifies the task, whatever process holds it.
  func complete(_ call: Call<AppInterface.Complete.Parameters>) {
    guard let key = runner.task(of: call.parameters.token, completedBy: call.peer) else {
      audience.attached.setAlive(by: call.parameters.token, call.peer)
      return call.fail(RefreshdInterface.NoSuchToken())
    }
    let hints: TaskCompletion.Hints
    do throws(InvalidParameter) { hints = try TaskCompletion.Hints(call.parameters) } catch { return call.fail(error) }
    let before = core.engine.outcome(of: key.refresh, task: key.task)
    let message = OutputLines.message(of: call.parameters.message ?? "")
    let outcome = Outcome(call.parameters.outcome, message: message)
    core.handle(.completed(key.refresh, task: key.task, outcome, message: message))
    if before == nil {
      for event in hints.events(of: key.refresh, runner.refreshes[key.refresh]) { core.handle(event) }
      ports.processes.keep(TaskCompletion(outcome, message: message, hints: hints), of: key)
    }
    if let performer = runner.refreshes[key.refresh]?.performer {
      if call.parameters.leave == true { audience.attached.setLeaving(performer) }
      // An attached process that performs a refresh does not end with it.
      core.handle(.taskEnded(key.refresh, task: key.task, TaskEnd(exit: .exited(0))))
    }
    if let before {
      call.fail(AppInterface.AlreadyCompleted(outcome: Wire.Outcome(before)))
    } else {
      call.reply(AppInterface.Complete.Reply())
    }
  }
}

extension TaskCompletion.Hints {
  /// The events that pass a task's hints to the engine.
  func events(of refresh: RefreshID, _ running: RunningRefreshes.Running?) -> [Event] {
    var events = retryAfter.map { [Event.retryAfter(refresh, $0)] } ?? []
    guard let commands = running?.commands else { return events }
    if let span = ServerHints.freshFor(freshFor, tasks: commands.map { $0.fetch != nil }) {
      events.append(.freshFor(refresh, span))
    }
    return events
  }
}

extension TaskCompletion.Hints {
  /// Throws for a span below zero.
  fileprivate init(_ parameters: AppInterface.Complete.Parameters) throws(InvalidParameter) {
    func span(_ microseconds: Int64?, _ name: String) throws(InvalidParameter) -> Duration? {
      guard let microseconds else { return nil }
      guard microseconds >= 0 else { throw InvalidParameter(parameter: name) }
      return .microseconds(microseconds)
    }
    retryAfter = try span(parameters.retryAfterMicroseconds, "retry_after_us")
    freshFor = try span(parameters.freshForMicroseconds, "fresh_for_us")
    if retryAfter == nil, parameters.temporary == true { retryAfter = .zero }
  }
}

extension Outcome {
  /// The outcome that a task reports.
  fileprivate init(_ outcome: Wire.Outcome, message: String) {
    self =
      switch outcome {
      case .newData: .newData
      case .noData: .noData
      case .failed: .failed(.reported(message))
      }
  }
}

extension Daemon {
  /// Counts a sync that an app made by itself.
  func synced(_ call: Call<AppInterface.Synced.Parameters>) {
    guard let app = refreshedApp(named: call.parameters.app, for: call) else { return }
    core.handle(.synced(app.id, foundNew: call.parameters.newData ?? false))
    call.reply(AppInterface.Synced.Reply())
  }
}

// The calls of refresh-session: each speaks for the apps of its own user only.

extension Daemon {
  /// The interface of a user's session, with the handler of each method.
  var sessionInterface: Interface {
    var interface = Interface(SessionInterface.self)
    interface.serve(SessionInterface.Follow.self, as: .watch, forPeople { self.followDesktop($0) })
    interface.serve(SessionInterface.Report.self, forPeople { self.reportDesktop($0) })
    return interface
  }

  /// Tells a session which apps to watch for, until the connection ends.
  func followDesktop(_ call: Call<SessionInterface.Follow.Parameters>) {
    guard mayShow(call) else { return }
    guard call.wantsMore else { return call.fail(ExpectedMore()) }
    if desktops.follow(call) { notices.sessionCame(of: call.peer.uid) }
  }

  /// Takes a session's report about its user's apps.
  func reportDesktop(_ call: Call<SessionInterface.Report.Parameters>) {
    guard mayShow(call) else { return }
    desktops.report(call)
  }

  /// Whether the caller may speak for a session of its user; answers the call if not.
  ///
  /// A task and a sandboxed app may not, because they would speak for other apps.
  private func mayShow<Parameters>(_ call: Call<Parameters>) -> Bool {
    if core.access.maySeeOwn(call.peer) { return true }
    call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy))
    return false
  }
}
