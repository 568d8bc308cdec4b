import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

/// The attached processes of apps, which perform refreshes, and the events that they receive.
///
/// A process that reads too slowly is disconnected (``Bounds/unsentBytes``).
final class AttachedProcesses {
  typealias AttachCall = Call<AppInterface.Attach.Parameters>

  private struct Attachment {
    let app: AppID
    let call: AttachCall
    /// The refresh that the process did not end in time; nil while the process is not late.
    var late: (token: String?, refresh: RefreshID, since: Instant)?
  }

  private unowned let core: DaemonCore
  private let journal: DaemonJournal
  /// The open calls, by the lease of `launched` that each holds.
  private var open: [LeaseID: Attachment] = [:]
  private var performers: [AppID: Performers] = [:]
  /// The apps whose refreshes, as far as the engine knows, an attached process performs.
  private var served: Set<AppID> = []

  init(_ core: DaemonCore, _ journal: DaemonJournal) { (self.core, self.journal) = (core, journal) }

  /// The most processes of one app: each hears of every push and every end.
  static let mostOfApp = 16
  /// The most processes of one user.
  static let mostOfUser = 256

  /// The error for one more process of an app by a user; nil if there is room.
  func isFull(for app: AppID, _ uid: UInt32) -> RefreshdInterface.TooManyAttached? {
    if performers[app]?.leases.count ?? 0 >= Self.mostOfApp {
      return .init(limit: Self.mostOfApp, remedy: "End another process that is attached to \(app).")
    }
    if open.count(where: { $1.call.peer.uid == uid }) >= Self.mostOfUser {
      return .init(limit: Self.mostOfUser, remedy: "End another attached process of this user.")
    }
    return nil
  }

  func add(_ call: AttachCall, _ lease: LeaseID, of app: AppID) {
    open[lease] = Attachment(app: app, call: call)
    performers[app, default: Performers()].add(lease)
    journal.attached(call.peer.pid, to: app)
  }

  func remove(_ lease: LeaseID, of app: AppID, _ peer: Peer) {
    open[lease] = nil
    performers[app]?.remove(lease)
    if performers[app]?.leases.isEmpty == true { performers[app] = nil }
    journal.detached(peer.pid, from: app)
  }

  /// Confirms to a process that it is attached.
  func greet(_ lease: LeaseID, of app: AppID) {
    send(Wire.AttachEvent(kind: .attached, phase: core.engine.phase(of: app).map(Wire.Phase.init)), to: lease)
  }

  /// The process that performs the app's next refresh.
  func performer(of app: AppID) -> (lease: LeaseID, pid: Int32)? {
    guard let lease = performers[app]?.next(where: isAllowed), let call = open[lease]?.call else { return nil }
    return (lease, call.peer.pid)
  }

  /// The process of an app that has been late for longest; nil if none is.
  func late(of app: AppID) -> Wire.LateProcess? {
    let late = (performers[app]?.leases ?? []).lazy.compactMap { lease in
      self.open[lease].flatMap { open in open.late.map { (open.call.peer.pid, $0.refresh, $0.since) } }
    }.first
    return late.map { pid, refresh, since in
      Wire.LateProcess(pid: Int(pid), refresh: refresh.description, sinceMicroseconds: core.wall(since))
    }
  }

  /// The user of an attached process; nil if its connection has ended.
  func user(of lease: LeaseID) -> UInt32? { open[lease]?.call.peer.uid }

  /// Tells the engine whether a process performs the app's refreshes, if that has changed.
  func reportServed(_ app: AppID) {
    let isServed = performer(of: app) != nil
    let isNew = isServed ? served.insert(app).inserted : served.remove(app) != nil
    guard isNew else { return }
    core.handle(isServed ? .attached(app) : .detached(app))
  }

  /// Does so for all apps, after a new configuration.
  func reportAllServed() {
    for app in performers.keys.sorted() { reportServed(app) }
  }

  /// Marks a process that did not end a refresh in time; it gets no other refresh until it answers.
  func setLate(_ lease: LeaseID, of app: AppID, _ refresh: RefreshID, tokens: [String]) {
    guard let process = open[lease]?.call.peer.pid else { return }
    open[lease]?.late = (tokens.last, refresh, core.now)
    performers[app]?.setLate(lease)
    journal.late(process, of: app, refresh)
    reportServed(app)
  }

  /// Gives no further refresh to a process that is about to leave.
  func setLeaving(_ lease: LeaseID) {
    guard let app = open[lease]?.app else { return }
    performers[app]?.setLeaving(lease)
    reportServed(app)
  }

  /// Gives refreshes to a late process again, if it answers with the token of the refresh that it was late with.
  func setAlive(by token: String, _ peer: Peer) {
    let late = open.first { $1.late?.token == token && $1.call.peer.uid == peer.uid }
    guard let (lease, attachment) = late else { return }
    open[lease]?.late = nil
    performers[attachment.app]?.setAnswered(lease)
    reportServed(attachment.app)
  }

  // MARK: - Events

  func send(_ event: Wire.AttachEvent, to lease: LeaseID) {
    open[lease]?.call.reply(AppInterface.Attach.Reply(event: event), continues: true)
  }

  /// Sends an event to all processes of an app, except one.
  func send(_ event: Wire.AttachEvent, of app: AppID, except lease: LeaseID? = nil) {
    for other in allowed(for: app) where other != lease { send(event, to: other) }
  }

  /// Sends an event that depends on who sees it to all processes of an app.
  private func send(of app: AppID, _ event: (Viewer) -> Wire.AttachEvent) {
    for lease in allowed(for: app) {
      if let peer = open[lease]?.call.peer { send(event(Viewer(peer)), to: lease) }
    }
  }

  func report(_ ended: StoredRefresh, of app: AppID) {
    guard !allowed(for: app).isEmpty else { return }
    send(of: app) { viewer in
      let refresh = Wire.Refresh(ended, of: app, for: viewer)
      let messages = refresh.messages.joined(separator: "; ")
      return Wire.AttachEvent(
        kind: .ended, refresh: refresh.id, outcome: refresh.outcome, cause: refresh.cause?.text,
        message: messages.isEmpty ? nil : messages)
    }
  }

  func report(_ ended: TaskRecord, _ refresh: RefreshID, of app: AppID) {
    send(of: app) { viewer in
      let ended = Wire.RefreshTask(ended, for: viewer)
      return Wire.AttachEvent(
        kind: .taskEnded, refresh: refresh.description, outcome: ended.outcome, cause: ended.cause?.text,
        message: ended.message.isEmpty ? nil : ended.message, task: ended.name)
    }
  }

  func report(_ phase: Phase, of app: AppID) {
    send(Wire.AttachEvent(kind: .phaseChanged, phase: Wire.Phase(phase)), of: app)
  }

  private func allowed(for app: AppID) -> [LeaseID] { performers[app]?.leases.filter(isAllowed) ?? [] }

  /// Whether a process may still ask about its app, whose file may have a new owner, or be gone.
  private func isAllowed(_ lease: LeaseID) -> Bool {
    guard let attachment = open[lease], let app = core.configuration[attachment.app] else { return false }
    return core.access.may(attachment.call.peer, about: app)
  }
}
