import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

/// The processes of apps that are attached to perform refreshes, and the events that they are sent.
///
/// A process that reads too slowly is disconnected (``Bounds/unsentBytes``).
final class AttachedProcesses {
  typealias AttachCall = Call<AppInterface.Attach.Parameters>

  private struct Attachment {
    /// The lease of `launched` that the call holds.
    let lease: LeaseID
    let call: AttachCall
    /// The token of the refresh that the process neither completed nor left; nil while it is not late.
    var lateToken: String?

    func send(_ event: Wire.AttachEvent) {
      call.reply(AppInterface.Attach.Reply(event: event), continues: true)
    }
  }

  private unowned let core: DaemonCore
  private let journal: DaemonJournal
  /// The open calls by app, in order of attaching.
  private var open: [AppID: [Attachment]] = [:]
  /// The apps of which the engine knows that a process performs their refreshes.
  private var served: Set<AppID> = []

  init(_ core: DaemonCore, _ journal: DaemonJournal) { (self.core, self.journal) = (core, journal) }

  func add(_ call: AttachCall, _ lease: LeaseID, of app: AppID) {
    open[app, default: []].append(Attachment(lease: lease, call: call))
    journal.attached(call.peer.pid, to: app)
  }

  func remove(_ lease: LeaseID, of app: AppID, _ peer: Peer) {
    open[app]?.removeAll { $0.lease == lease }
    if open[app]?.isEmpty == true { open[app] = nil }
    journal.detached(peer.pid, from: app)
  }

  /// Confirms to a process that it is attached.
  func greet(_ lease: LeaseID, of app: AppID) {
    send(
      Wire.AttachEvent(kind: "attached", phase: core.engine.phase(of: app).map(Wire.Phase.init)), to: lease, of: app)
  }

  /// The process that performs the app's next refresh: the first to attach of those that are not late.
  func performer(of app: AppID) -> (lease: LeaseID, pid: Int32)? {
    allowed(for: app).first { $0.lateToken == nil }.map { ($0.lease, $0.call.peer.pid) }
  }

  /// The user of an attached process; nil if its connection has ended.
  func user(of lease: LeaseID, of app: AppID) -> UInt32? { self[lease, of: app]?.call.peer.uid }

  /// Reports to the engine whether a process performs the app's refreshes, if that has changed.
  func settle(_ app: AppID) {
    let isServed = performer(of: app) != nil
    let isNew = isServed ? served.insert(app).inserted : served.remove(app) != nil
    guard isNew else { return }
    core.handle(isServed ? .attached(app) : .detached(app))
  }

  /// Does the same for all apps, after a new configuration.
  func settleAll() {
    for app in open.keys.sorted() { settle(app) }
  }

  /// Takes note that a process did not end a refresh in time; it gets no other refresh until it answers.
  func setLate(_ lease: LeaseID, of app: AppID, _ refresh: RefreshID, tokens: [String]) {
    guard let index = open[app]?.firstIndex(where: { $0.lease == lease }) else { return }
    open[app]?[index].lateToken = tokens.last
    if let process = open[app]?[index].call.peer.pid { journal.late(process, of: app, refresh) }
    settle(app)
  }

  /// Gives refreshes again to a process that was late, if this is the token that it was late with.
  func setAlive(by token: String, _ peer: Peer) {
    for (app, attachments) in open {
      guard let index = attachments.firstIndex(where: { $0.lateToken == token && $0.call.peer.uid == peer.uid })
      else { continue }
      open[app]?[index].lateToken = nil
      return settle(app)
    }
  }

  // MARK: - Events

  func send(_ event: Wire.AttachEvent, to lease: LeaseID, of app: AppID) {
    self[lease, of: app]?.send(event)
  }

  /// Sends an event to all processes of an app, except one.
  func send(_ event: Wire.AttachEvent, of app: AppID, except lease: LeaseID? = nil) {
    for attachment in allowed(for: app) where lease == nil || attachment.lease != lease { attachment.send(event) }
  }

  func report(_ ended: StoredRefresh) {
    guard !allowed(for: ended.app).isEmpty else { return }
    let refresh = Wire.Refresh(ended)
    let messages = refresh.messages.joined(separator: "; ")
    let event = Wire.AttachEvent(
      kind: "ended", refresh: refresh.id, outcome: refresh.outcome, cause: refresh.cause?.text,
      message: messages.isEmpty ? nil : messages)
    send(event, of: ended.app)
  }

  func report(_ phase: Phase, of app: AppID) {
    send(Wire.AttachEvent(kind: "phase_changed", phase: Wire.Phase(phase)), of: app)
  }

  /// The attachments that may still ask about the app: its file may have another owner than when they came, or be gone.
  private func allowed(for app: AppID) -> [Attachment] {
    guard let configured = core.configuration[app] else { return [] }
    return (open[app] ?? []).filter { core.access.may($0.call.peer, about: configured) }
  }

  private subscript(lease: LeaseID, of app: AppID) -> Attachment? { open[app]?.first { $0.lease == lease } }
}
