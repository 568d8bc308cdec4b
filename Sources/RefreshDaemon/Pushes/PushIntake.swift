import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore

/// Accepts pushes: saves them, hands them to the engine, and reports their fate.
final class PushIntake: CommitContributor, SavedPart {
  let bridge: BridgeConnection
  private unowned let core: DaemonCore
  private let audience: Audience
  private let saving: Saving
  private let journal: DaemonJournal
  private let notices: DesktopNotices
  private var ledger: PushLedger
  /// Whether a push or the bridge has come since the start, or a push was stored; from then on the conditions of urgencies
  /// are watched.
  private(set) var isInUse: Bool

  /// The pushes that the next commit saves before the engine gets them.
  private var arrived: [ArrivedPush] = []
  /// The messages that the next commit forgets, because their pushes were refused after all.
  private var unseen: [AppID: Set<String>] = [:]

  init(
    _ ledger: PushLedger, _ core: DaemonCore, _ audience: Audience, _ saving: Saving, _ journal: DaemonJournal,
    _ notices: DesktopNotices
  ) {
    (self.ledger, self.core, self.audience, self.saving) = (ledger, core, audience, saving)
    (self.journal, self.notices) = (journal, notices)
    isInUse = !ledger.apps.isEmpty
    bridge = BridgeConnection(core)
  }

  /// Starts to watch the conditions of urgencies.
  func use() {
    guard !isInUse else { return }
    isInUse = true
    core.delegate.needsChanged()
  }

  // MARK: - Intake

  /// Accepts pushes, and answers when they are on the disk: the fate of each, or why none was accepted.
  ///
  /// The store saves the pushes first, and the engine gets them after that: a push that cannot be stored never existed, and
  /// may be sent again. The same transaction leaves out messages that were accepted before. The engine's decision is saved
  /// before the answer too, so that a crash right after it changes nothing.
  func accept(_ checked: [CheckedPush], then answer: @escaping (Result<[AcceptedPush], PushRefusal>) -> Void) {
    let now = core.readClocks()
    use()
    let arrived = checked.map { $0.arrived(as: ledger.makeID(), at: now) }
    let isToBeSaved = arrived.contains { $0.push != nil || $0.message != nil }
    let conclude = { (known: Set<PushID>) in
      zip(checked, arrived).map { checked, push in
        known.contains(push.id) ? self.passOver(checked) : self.handToEngine(checked, push.push)
      }
    }
    guard isToBeSaved else { return answer(.success(conclude([]))) }
    let bytes = arrived.reduce(0) { $0 + ($1.push?.payload.utf8.count ?? 0) }
    let own = ledger.hasRoom(for: bytes) ? 0 : bytesOfOwner(of: checked)
    guard ledger.reserve(bytes, own: own) else { return answer(.failure(.full(for: Set(checked.map(\.app))))) }
    self.arrived += arrived
    let numbers = Set(arrived.map(\.id))
    saving.promise { problem, known in
      self.ledger.release(bytes)
      if let problem {
        self.arrived.removeAll { numbers.contains($0.id) }
        return answer(.failure(PushRefusal(problem)))
      }
      let accepted = conclude(known)
      self.saving.afterCommit { answer(.success(accepted)) }
      self.saving.commitSoon()
    } storedLate: { known in
      for push in arrived where !known.contains(push.id) { self.forget(push) }
    }
  }

  /// The bytes of waiting payloads of the owner of these apps; of several owners, the largest sum.
  private func bytesOfOwner(of checked: [CheckedPush]) -> Int {
    let owner = { (app: AppID) in self.core.configuration[app]?.owner.uid }
    return Set(checked.compactMap { owner($0.app) }).map { user in ledger.bytes { owner($0) == user } }.max() ?? 0
  }

  /// Has the store forget a refused push, so that its source may send it again.
  private func forget(_ push: ArrivedPush) {
    if push.push != nil { delete(push.id) }
    if let message = push.message { unseen[push.app, default: []].insert(message) }
  }

  /// Deletes a stored push that the engine does not have.
  private func delete(_ push: PushID) {
    var changes = Changes()
    changes.pushes[push] = .gone
    saving.add(changes)
  }

  /// Counts a push that was refused because its payload is wrong.
  func noteRefused() { core.tally.note(Tally.PushEnd.refused) }

  /// Counts a push whose message was accepted before.
  private func passOver(_ checked: CheckedPush) -> AcceptedPush {
    core.tally.note(Wire.PushFate.known)
    return AcceptedPush(fate: .known, waiting: waiting(of: checked.app))
  }

  /// Gives a saved push to the engine; a push that wakes no app goes to the attached processes.
  private func handToEngine(_ checked: CheckedPush, _ push: Push?) -> AcceptedPush {
    guard core.configuration[checked.app] != nil else {
      if let message = checked.message { unseen[checked.app, default: []].insert(message) }
      if let push { delete(push.id) }
      return AcceptedPush()
    }
    guard let push else {
      audience.attached.send(
        Wire.AttachEvent(kind: .push, payload: checked.payload.text, contentID: checked.payload.contentID),
        of: checked.app)
      audience.watchers.report(push: checked.payload.contentID, to: checked.app, .told)
      show(checked.payload.alert, of: checked.app)
      return note(AcceptedPush(fate: .told, waiting: waiting(of: checked.app)), of: checked)
    }
    core.handle(.pushed(checked.app, push))
    let isKept = core.engine.pushes(of: checked.app).contains { $0.id == push.id }
    // A push that replaced another push uses its row, and needs none of its own.
    if !isKept { delete(push.id) }
    let delivered = core.engine.state(of: checked.app)?.running?.push
    var accepted = AcceptedPush(fate: isKept ? .queued : .merged, waiting: waiting(of: checked.app))
    if delivered == push.id {
      accepted.waiting += 1
    } else if let opens = core.engine.pushLimitFreeAt(for: checked.app, checked.urgency), opens > core.now {
      accepted.earliest = opens
    }
    return note(accepted, of: checked)
  }

  private func show(_ alert: PushPayload.Alert?, of app: AppID) {
    guard let alert else { return }
    notices.show(.alert, of: app, title: alert.title, body: alert.body)
  }

  private func note(_ accepted: AcceptedPush, of checked: CheckedPush) -> AcceptedPush {
    guard let fate = accepted.fate else { return accepted }
    core.tally.note(fate)
    journal.accepted(checked.payload.contentID, of: checked.app, fate, waiting: accepted.waiting)
    return accepted
  }

  /// How many pushes of an app wait, without the push that a running refresh delivers.
  private func waiting(of app: AppID) -> Int {
    let delivered = core.engine.state(of: app)?.running?.push
    return core.engine.pushes(of: app).count { $0.id != delivered }
  }

  // MARK: - Decisions

  func contribute(to commit: inout CommitAdditions, from decision: Decision, on event: Event) {
    guard !decision.changes.pushes.isEmpty else { return }
    let dropped = Set(decision.changes.history.droppedPushes.map(\.id))
    for (id, change) in decision.changes.pushes {
      let before = ledger.note(change, of: id)
      guard change == .gone, before?.wasDelivered == true, !dropped.contains(id) else { continue }
      // Otherwise the app would get the push again after a loss of power.
      commit.isDurable = true
      core.tally.note(Tally.PushEnd.delivered)
      // The refresh has prepared the data for the alert; after a crash its push comes again.
      if let before { commit.answers.append { self.show(before.alert, of: before.app) } }
    }
    for push in decision.changes.history.droppedPushes {
      core.tally.note(Tally.PushEnd.dropped)
      journal.dropped(push)
      audience.attached.send(
        Wire.AttachEvent(
          kind: .pushDropped, message: "more than \(Engine.mostPushes) pushes were waiting",
          contentID: push.contentID),
        of: push.app)
    }
  }

  // MARK: - Saving

  var hasChanges: Bool { !arrived.isEmpty || !unseen.isEmpty }

  func moveChanges(into batch: inout Batch) {
    (batch.arrived, batch.unseen) = (arrived, unseen)
    (arrived, unseen) = ([], [:])
  }

  /// Marks the pushes of apps without a file too.
  func markAllChanged() {
    var changes = Changes()
    for app in ledger.apps {
      for push in core.engine.pushes(of: app) { changes.pushes[push.id] = .kept(app, push) }
    }
    saving.add(changes)
  }
}

// Pushes as the socket shows them, without their payloads.

extension Wire.PushWaiting {
  init(_ waiting: WaitingPush, wallOffset: Duration) {
    let (word, until) = waiting.wait.wire
    self.init(
      contentID: waiting.push.contentID, urgency: Wire.Urgency(waiting.push.urgency),
      arrivedMicroseconds: waiting.push.arrivedAt.wallMicroseconds(at: wallOffset),
      merged: Int(waiting.push.merged), wait: word, untilMicroseconds: until?.wallMicroseconds(at: wallOffset))
  }
}

extension WaitingPush.Wait {
  /// The word for the wait, and its end if that is known.
  var wire: (word: String, until: Instant?) {
    switch self {
    case .ready: ("ready", nil)
    case .turn: ("turn", nil)
    case .limit(let until): ("limit", until)
    case .retry(let until): ("retry", until)
    case .urgency: ("urgency", nil)
    case .terminated: ("terminated", nil)
    }
  }
}

extension Wire.DroppedPush {
  init(_ push: StoredDroppedPush) {
    self.init(
      contentID: push.contentID, arrivedMicroseconds: push.arrivedWallMicroseconds,
      droppedMicroseconds: push.droppedWallMicroseconds, merged: Int(push.merged))
  }
}
