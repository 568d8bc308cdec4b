import RefreshAPI
import RefreshEngine
import Varlink

/// The clients with open calls: watchers, leases, attached processes and waiting `Run` calls.
final class Audience {
  let watchers: Watchers
  let attached: AttachedProcesses
  let runCalls: RunCalls
  private var leases = Leases()
  private unowned let core: DaemonCore
  private let journal: DaemonJournal

  init(_ core: DaemonCore, _ journal: DaemonJournal) {
    (self.core, self.journal) = (core, journal)
    watchers = Watchers(core)
    attached = AttachedProcesses(core, journal)
    runCalls = RunCalls(core)
  }

  /// Makes a change that may change the app's phase, and reports a new phase to the journal and the app's clients.
  func changePhase(of app: AppID, _ change: () -> Void) {
    let before = core.engine.phase(of: app)
    runCalls.keeping(change)
    guard let after = core.engine.phase(of: app), after != before else { return }
    journal.changedPhase(of: app, to: after)
    watchers.report(after, of: app)
    attached.report(after, of: app)
  }

  /// Holds a signal for as long as the connection of its call is open.
  func lease(_ signal: Signal, of app: AppID, _ call: Leases.LeaseCall) {
    let lease = leases.add(call, of: app)
    call.onDisconnect {
      self.leases.remove(lease, of: app)
      self.changePhase(of: app) { self.core.handle(.leaseEnded(lease, app)) }
    }
    changePhase(of: app) { core.handle(.leased(lease, app, signal)) }
  }

  /// Attaches a process until its connection ends; `onEnd` is called then with its lease.
  func attach(_ call: Attachments.AttachCall, to app: AppID, onEnd: @escaping (LeaseID) -> Void) {
    let lease = leases.makeID()
    attached.add(Attachments.Attachment(lease: lease, call: call), of: app)
    call.onDisconnect {
      self.attached.remove(lease, of: app, call.peer)
      self.changePhase(of: app) { self.core.handle(.leaseEnded(lease, app)) }
      self.attached.settle(app)
      onEnd(lease)
    }
    changePhase(of: app) { core.handle(.leased(lease, app, .launched)) }
    attached.greet(lease, of: app)
    attached.settle(app)
  }

  /// Sends those who hold a signal of the app a notice.
  func notify(leasesOf app: AppID, _ notice: Wire.Notice) {
    guard let phase = core.engine.phase(of: app) else { return }
    for call in leases.calls(of: app) {
      call.reply(AppInterface.Signal.Reply(phase: Wire.Phase(phase), notice: notice), continues: true)
    }
  }
}
