import RefreshAPI
import RefreshEngine
import Varlink

/// The clients with open calls: watchers, leases, attached processes and waiting `Run` calls.
final class Audience: DecisionObserver {
  typealias LeaseCall = Call<AppInterface.Signal.Parameters>

  let watchers: Watchers
  let attached: AttachedProcesses
  let runCalls: RunCalls
  /// The calls whose connections hold signals, by app.
  private var leases: [AppID: [LeaseID: LeaseCall]] = [:]
  private var lastLease: UInt64 = 0
  private unowned let core: DaemonCore
  private let journal: DaemonJournal

  init(_ core: DaemonCore, _ journal: DaemonJournal) {
    (self.core, self.journal) = (core, journal)
    watchers = Watchers(core)
    attached = AttachedProcesses(core, journal)
    runCalls = RunCalls(core)
  }

  /// Reports the phases that changed to the journal and the apps' clients.
  func observe(_ decision: Decision, on event: Event, at now: Instant) {
    // A desktop shows the app, without a signal.
    let isSeen = if case .shown = event { true } else { false }
    for (app, phase) in decision.phases.sorted(by: { $0.key < $1.key }) {
      journal.changedPhase(of: app, to: phase, isSeen: isSeen)
      watchers.report(phase, of: app)
      attached.report(phase, of: app)
    }
  }

  /// Holds a signal until the connection of its call ends.
  func lease(_ signal: Signal, of app: AppID, _ call: LeaseCall) {
    let lease = makeLease()
    leases[app, default: [:]][lease] = call
    call.onDisconnect("\(lease)") {
      self.leases[app]?[lease] = nil
      if self.leases[app]?.isEmpty == true { self.leases[app] = nil }
      self.core.handle(.leaseEnded(lease, app))
    }
    core.handle(.leased(lease, app, signal))
  }

  /// Attaches a process until its connection ends, when `onEnd` is called; returns the lease.
  func attach(_ call: AttachedProcesses.AttachCall, to app: AppID, onEnd: @escaping (LeaseID) -> Void) -> LeaseID {
    let lease = makeLease()
    attached.add(call, lease, of: app)
    // A client that hangs up may have sent several calls: each ends its own lease.
    call.onDisconnect("\(lease)") {
      self.attached.remove(lease, of: app, call.peer)
      self.core.handle(.leaseEnded(lease, app))
      self.attached.reportServed(app)
      onEnd(lease)
    }
    core.handle(.leased(lease, app, .launched))
    attached.greet(lease, of: app)
    attached.reportServed(app)
    return lease
  }

  /// Sends a notice to the clients that hold a signal of the app, if they may still ask about it.
  func notify(leasesOf app: AppID, _ notice: Wire.Notice) {
    guard let phase = core.engine.phase(of: app) else { return }
    for (_, call) in (leases[app] ?? [:]).sorted(by: { $0.key < $1.key }) where core.may(call.peer, about: app) {
      call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase), notice: notice), continues: true)
    }
  }

  private func makeLease() -> LeaseID {
    lastLease += 1
    return LeaseID(lastLease)
  }
}

/// The `Run` calls that wait for a refresh to start.
final class RunCalls {
  typealias RunCall = Call<ManagerInterface.Run.Parameters>

  private struct WaitingCall {
    let call: RunCall
    /// The refresh that was running when the call came.
    let before: RefreshID?

    var hasPayload: Bool { call.parameters.payload != nil }
  }

  private unowned let core: DaemonCore
  private var waiting: [AppID: [WaitingCall]] = [:]

  init(_ core: DaemonCore) { self.core = core }

  /// Keeps a call until the next refresh of an app; while `before` runs, until the refresh after it.
  ///
  /// Drops the call when its caller disconnects. Keeps no call of a caller that is gone or wants no answer.
  func wait(_ call: RunCall, for app: AppID, after before: RefreshID?) {
    guard !call.isOver, !call.isOneway else { return }
    call.onDisconnect("run") { self.drop(call.connection, app) }
    waiting[app, default: []].append(WaitingCall(call: call, before: before))
    core.handle(.awaited(app, true))
  }

  /// Takes the calls that a refresh answers.
  ///
  /// Two kinds of calls wait for the next refresh: a call that came while this refresh was being saved, and a call with a
  /// payload if this refresh has the payload of another call.
  func claim(by refresh: RefreshID, of app: AppID) -> [RunCall] {
    var claimed: [RunCall] = []
    for waiting in end(app) {
      let isSecond = waiting.hasPayload && claimed.contains { $0.parameters.payload != nil }
      guard waiting.before == refresh || isSecond else {
        claimed.append(waiting.call)
        continue
      }
      wait(waiting.call, for: app, after: refresh)
      if isSecond { core.handle(.requested(app, .push)) }
    }
    return claimed
  }

  /// Fails the calls that wait for an app's refresh, which will not start.
  func giveUp(_ id: AppID, _ hold: Hold) {
    let app = id.description
    for waiting in end(id) {
      waiting.call.fail(
        ManagerInterface.Held(app: app, holds: [hold.wire(of: app, wallOffset: core.engine.wallOffset)]))
    }
  }

  func giveUpAll(_ hold: Hold) {
    for app in waiting.keys.sorted() { giveUp(app, hold) }
  }

  /// Fails calls for apps that have left the configuration, and calls of users who may no longer ask.
  func reconfigured() {
    for (app, calls) in waiting.sorted(by: { $0.key < $1.key }) {
      guard core.configuration[app] != nil else {
        giveUp(app, .notConfigured)
        continue
      }
      for call in calls.map(\.call) where !core.may(call.peer, about: app) {
        call.connection.cancelDisconnectAction("run")
        drop(call.connection, app)
        call.fail(core.access.refusal(of: call.peer, app: app.description))
      }
    }
  }

  private func drop(_ connection: Connection, _ app: AppID) {
    guard let rest = waiting[app]?.filter({ $0.call.connection !== connection }) else { return }
    waiting[app] = rest.isEmpty ? nil : rest
    if rest.isEmpty { core.handle(.awaited(app, false)) }
  }

  /// Takes out the calls that wait for an app.
  private func end(_ app: AppID) -> [WaitingCall] {
    guard let calls = waiting.removeValue(forKey: app) else { return [] }
    for waiting in calls { waiting.call.connection.cancelDisconnectAction("run") }
    core.handle(.awaited(app, false))
    return calls
  }
}
