// Takes back a user's changes that could not be stored: one rule for each kind of change.

/// The state before a change by the user, if no other event restores it.
public indirect enum Before: Hashable, Sendable {
  /// An app's skip.
  case skip(AppID, until: Instant?, isOfAll: Bool, request: Request?)
  /// The request that a change dropped, and whether a person has forced it.
  case request(AppID, Request?, isForced: Bool)
  /// The learners of an app, and the plan made from them.
  case learned(AppID, AppHabits?, planned: Instant?)
  /// An app that was erased.
  case app(AppID, AppState, AppHabits?, pushes: [Push])
  /// A transfer before the user's change.
  case transfer(TransferID, TransferState)
}

extension Engine {
  /// The events that take back a user's changes: compute them before the changes, and handle them if the store fails.
  public func undo(of events: [Event]) -> [Event] { events.reversed().flatMap(undo) }

  private func undo(of event: Event) -> [Event] {
    switch event {
    case .disabled(let id, let isDisabled):
      // Disabling an app also drops its scheduled refresh and its request.
      state(of: id).map {
        [
          .disabled(id, $0.isDisabled), .scheduled(id, $0.oneShot),
          .restored(.request(id, isDisabled ? asked(of: id) : $0.request, isForced: $0.isForced)),
        ]
      } ?? []
    case .scheduled(let id, _): state(of: id).map { [.scheduled(id, $0.oneShot)] } ?? []
    case .overridden(let id, _): state(of: id).map { [.overridden(id, $0.overrides)] } ?? []
    case .skipped(let id), .skippedAll(let id, _):
      state(of: id).map {
        [.restored(.skip(id, until: $0.skippedUntil, isOfAll: $0.skipsAll, request: $0.request))]
      } ?? []
    case .forgotten(let id): [.restored(.learned(id, learned(of: id), planned: state(of: id)?.planned))]
    case .erased(let id): state(of: id).map { [.restored(.app(id, $0, learned(of: id), pushes: pushes(of: id)))] } ?? []
    case .signalled(let id, let signal) where signal == .login || signal == .logout:
      [
        .signalled(id, phase(of: id) == .loggedOut ? .logout : .login),
        .restored(
          .request(
            id, signal == .logout ? asked(of: id) : state(of: id)?.request,
            isForced: state(of: id)?.isForced ?? false)),
      ]
    case .paused: [.paused(judge.pause)]
    case .transferPaused(let id, _), .transferCancelled(let id), .transferPrioritized(let id, _), .roomFound(let id):
      transferState(of: id).map { [.restored(.transfer(id, $0))] } ?? []
    default: []
    }
  }

  /// The request of an app, also if its refresh runs: a switch stops that at once, without waiting for the disk.
  ///
  /// A push and an ended session are delivered again in any case.
  private func asked(of id: AppID) -> Request? {
    guard let index = apps.index(of: id) else { return nil }
    guard apps[index].requests.pending == nil, let running = apps[index].refreshing, running.stopReason == nil,
      running.started.push == nil, running.started.session == nil
    else { return apps[index].requests.pending }
    return Request(trigger: .retry, earliest: running.started.at)
  }

  /// Restores the state before a change, unless something else has changed it since.
  mutating func restore(_ before: Before, _ turn: inout Turn) {
    switch before {
    case .skip(let id, let until, let isOfAll, let request):
      guard let index = apps.index(of: id), apps[index].policy != nil else { return }
      apps[index].switches.skip(until: until, all: isOfAll)
      if apps[index].requests.pending == nil { apps[index].requests.replace(by: request) }
      change(index, &turn)
    case .request(let id, let request, let isForced):
      guard let index = apps.index(of: id), apps[index].policy != nil, apps[index].requests.pending == nil,
        request != nil
      else { return }
      // A refresh that has started since serves the request, unless it was stopped.
      if let running = apps[index].refreshing, running.stopReason != .user, running.stopReason != .logout { return }
      apps[index].requests.replace(by: request)
      if isForced, request?.trigger == .manual { apps[index].requests.force() }
      change(index, &turn)
    case .learned(let id, let learned, let planned):
      guard let index = apps.index(of: id) else { return }
      restore(learned, of: index, &turn)
      apps[index].timetable.restorePlan(planned)
      turn.decision.changes.history.openingsForgotten[id] = false
      change(index, &turn)
    case .app(let id, let state, let learned, let pushes):
      // A file that names the app again has begun a new app.
      guard let index = apps.index(of: id), apps[index].policy == nil, apps[index].timetable.seenAt == nil else {
        return
      }
      apps[index].restore(state)
      apps[index].mailbox.restore(pushes)
      for push in pushes { turn.decision.changes.pushes[push.id] = .kept(id, push) }
      restore(learned, of: index, &turn)
      change(index, &turn)
      turn.decision.changes.restore(id)
    case .transfer(let id, let state): transfers.takeBack(to: state, of: id, &turn)
    }
  }

  private mutating func change(_ index: AppIndex, _ turn: inout Turn) {
    turn.touch(index)
    turn.decision.changes.apps.insert(apps.id(at: index))
  }

  private mutating func restore(_ learned: AppHabits?, of index: AppIndex, _ turn: inout Turn) {
    planner.setLearned(learned, of: index)
    turn.decision.changes.learned.insert(apps.id(at: index))
  }
}
