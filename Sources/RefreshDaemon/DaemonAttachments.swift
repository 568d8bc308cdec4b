import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Varlink

// Refreshes that a process of the app performs itself, and what attached processes are told (FEATURES B6).

extension Attachments.Attachment {
  /// Tells it something; one that reads too slowly is disconnected (``Bounds/unsentBytes``).
  func tell(_ event: Wire.AttachEvent) {
    call.reply(AppInterface.Attach.Reply(event: event), continues: true)
  }
}

extension Daemon {
  /// The attachments of an app that may know of it: its file may have another owner than when they came, or be gone.
  func attached(to app: AppID) -> [Attachments.Attachment] {
    guard let configured = configuration[app] else { return [] }
    return attachments.of(app).filter { access.may($0.call.peer, about: configured) }
  }

  /// The one that performs the app's next refresh: the first to attach of those that are not late.
  func performer(of app: AppID) -> Attachments.Attachment? {
    attached(to: app).first { $0.lateToken == nil }
  }

  /// The one that performs a refresh, while it is there.
  private func performer(of refresh: RefreshID) -> Attachments.Attachment? {
    guard let running = refreshes.running[refresh], let lease = running.performer else { return nil }
    return attachments[lease, of: running.app.id]
  }

  /// Tells the engine whether a process performs the app's refreshes, where that has changed.
  func settleAttachments(of app: AppID) {
    let isServed = performer(of: app) != nil
    guard attachments.note(isServed, of: app) else { return }
    handle(isServed ? .attached(app) : .detached(app))
  }

  // MARK: - One refresh

  /// Has the app's process perform a refresh.
  func handOver(_ refresh: RefreshID, of app: AppConfiguration, _ trigger: Trigger, deadline: Instant) {
    let performer = performer(of: app.id)
    let running = refreshes.begin(refresh, of: app, trigger, deadline: deadline, performer: performer?.lease)
    tellStarted(refresh, running)
    // It may have left since the engine decided.
    guard let performer, let token = running.tokens.first else { return lose(refresh) }
    let push = engine.push(toldBy: refresh)
    performer.tell(
      Wire.AttachEvent(
        kind: "perform", refresh: refresh.description, trigger: Wire.Trigger(trigger), token: token,
        payload: push?.payload ?? linesOfSession(toldBy: refresh, to: app.id), session: session(toldBy: refresh),
        deadlineMicroseconds: deadline.wallMicroseconds(at: engine.wallOffset), contentID: push?.contentID))
  }

  /// Tells who performs a refresh that its deadline is near.
  func warnPerformer(of refresh: RefreshID, deadline: Instant) {
    performer(of: refresh)?.tell(
      Wire.AttachEvent(
        kind: "expiring", refresh: refresh.description,
        deadlineMicroseconds: deadline.wallMicroseconds(at: engine.wallOffset)))
  }

  /// Tells who performs a refresh to stop.
  func cancel(_ refresh: RefreshID, _ reason: StopReason) {
    performer(of: refresh)?.tell(
      Wire.AttachEvent(kind: "cancelled", refresh: refresh.description, reason: Wire.StopReason(reason)))
  }

  /// Waits no longer for who performs a refresh, and gives it no other one until it shows that it lives.
  func giveUp(_ refresh: RefreshID) {
    guard let running = refreshes.running[refresh], let performer = performer(of: refresh) else { return }
    let app = running.app.id
    for token in running.tokens { attachments.setLate(performer.lease, of: app, token: token) }
    journal.late(performer.call.peer.pid, of: app, refresh)
    settleAttachments(of: app)
    lose(refresh)
  }

  /// Takes note that nobody performs a refresh any more.
  func lose(_ refresh: RefreshID) {
    handle(.taskEnded(refresh, task: 0, TaskEnd(exit: .lostClient)))
  }

  /// Whether a completion of the refresh may come from this peer, who has the token.
  ///
  /// A task may hand its token on as it likes; what an attached app was given is for its user alone.
  func mayComplete(_ refresh: RefreshID, _ peer: Peer) -> Bool {
    guard let performer = performer(of: refresh) else { return true }
    return performer.call.peer.uid == peer.uid
  }

  /// Gives refreshes again to one that was late, if this is the token that it was late with.
  func wakeLate(by token: String, _ peer: Peer) {
    guard let app = attachments.setAlive(by: token, peer) else { return }
    settleAttachments(of: app)
  }

  // MARK: - What happens to the app

  /// Tells who is attached that a refresh has begun, but for who performs it.
  func tellAttached(toBegin refresh: RefreshID, _ running: Refreshes.Running) {
    let event = Wire.AttachEvent(
      kind: "started", refresh: refresh.description, trigger: Wire.Trigger(running.trigger))
    for attachment in attached(to: running.app.id) where attachment.lease != running.performer {
      attachment.tell(event)
    }
  }

  /// Tells who is attached that a refresh has ended.
  func tellAttached(of ended: StoredRefresh) {
    let attached = attached(to: ended.app)
    guard !attached.isEmpty else { return }
    let refresh = Wire.Refresh(ended)
    let said = refresh.messages.joined(separator: "; ")
    let event = Wire.AttachEvent(
      kind: "ended", refresh: refresh.id, outcome: refresh.outcome, cause: refresh.cause?.text,
      message: said.isEmpty ? nil : said)
    for attachment in attached { attachment.tell(event) }
  }

  /// Tells who is attached that the app is in another phase.
  func tellAttached(of phase: Phase, of app: AppID) {
    for attachment in attached(to: app) {
      attachment.tell(Wire.AttachEvent(kind: "phase_changed", phase: Wire.Phase(phase)))
    }
  }
}
