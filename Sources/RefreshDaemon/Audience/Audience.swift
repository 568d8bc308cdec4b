import RefreshAPI
import RefreshEngine
import Varlink

/// The clients with open calls: watchers, leases, attached processes and waiting `Run` calls.
final class Audience {
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

  /// Performs a change that may change the app's phase, and reports a new phase to the journal and the app's clients.
  ///
  /// `isSeen` says that a desktop shows the app, without a signal.
  func changePhase(of app: AppID, isSeen: Bool = false, _ change: () -> Void) {
    let before = core.engine.phase(of: app)
    change()
    guard let after = core.engine.phase(of: app), after != before else { return }
    journal.changedPhase(of: app, to: after, isSeen: isSeen)
    watchers.report(after, of: app)
    attached.report(after, of: app)
  }

  /// Holds a signal until the connection of its call ends.
  func lease(_ signal: Signal, of app: AppID, _ call: LeaseCall) {
    let lease = makeLease()
    leases[app, default: [:]][lease] = call
    call.onDisconnect("\(lease)") {
      self.leases[app]?[lease] = nil
      if self.leases[app]?.isEmpty == true { self.leases[app] = nil }
      self.changePhase(of: app) { self.core.handle(.leaseEnded(lease, app)) }
    }
    changePhase(of: app) { core.handle(.leased(lease, app, signal)) }
  }

  /// Attaches a process until its connection ends, when `onEnd` is called; returns the lease.
  func attach(_ call: AttachedProcesses.AttachCall, to app: AppID, onEnd: @escaping (LeaseID) -> Void) -> LeaseID {
    let lease = makeLease()
    attached.add(call, lease, of: app)
    // A client that hangs up may have sent several calls: each ends its own lease.
    call.onDisconnect("\(lease)") {
      self.attached.remove(lease, of: app, call.peer)
      self.changePhase(of: app) { self.core.handle(.leaseEnded(lease, app)) }
      self.attached.reportServed(app)
      onEnd(lease)
    }
    changePhase(of: app) { core.handle(.leased(lease, app, .launched)) }
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
