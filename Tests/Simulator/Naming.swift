import RefreshEngine

extension Effect {
  /// The app that the effect is about.
  var app: AppID {
    switch self {
    case .start(_, let app, _, _), .perform(_, let app, _, _), .startTask(_, let app, _), .warn(_, let app, _),
      .terminate(_, let app, _), .kill(_, let app), .reportStuck(_, let app), .reportEnd(_, let app),
      .transfer(_, let app), .stopTransfer(_, let app, _), .reportLeftUnit(let app, _):
      app
    case .reportStale(let run, _), .reportHeld(let run, _, _), .ask(let run), .keep(let run, _, _),
      .giveBack(let run, _, _):
      run.app
    }
  }
}

extension Effect {
  /// Whether the daemon performs the effect after the save, because it starts something or informs somebody.
  var isSavedFirst: Bool {
    switch self {
    case .start, .perform, .reportStale, .reportHeld, .reportEnd, .ask, .transfer, .stopTransfer, .keep,
      .reportLeftUnit:
      true
    case .giveBack(_, _, let isRunning): !isRunning
    case .startTask, .warn, .terminate, .kill, .reportStuck: false
    }
  }
}

/// A refresh that begins, by commands or in an attached process.
struct Beginning {
  let id: RefreshID
  let app: AppID
  let trigger: Trigger
  let deadline: Instant
  let isAttached: Bool
}

extension Effect {
  /// The refresh that the effect begins; nil for none.
  var beginning: Beginning? {
    switch self {
    case .start(let id, let app, let trigger, let deadline):
      Beginning(id: id, app: app, trigger: trigger, deadline: deadline, isAttached: false)
    case .perform(let id, let app, let trigger, let deadline):
      Beginning(id: id, app: app, trigger: trigger, deadline: deadline, isAttached: true)
    default: nil
    }
  }
}

extension Decision {
  /// The refreshes that begin.
  var beginnings: [Beginning] { effects.compactMap(\.beginning) }
}

extension Event {
  /// The app that the event names, if it names one.
  var app: AppID? {
    switch self {
    case .signalled(let app, _), .leased(_, let app, _), .leaseEnded(_, let app), .overridden(let app, _): app
    case .requested(let app, _), .forced(let app), .scheduled(let app, _), .disabled(let app, _), .skipped(let app),
      .skippedAll(let app, _):
      app
    case .erased(let app), .synced(let app, _), .shown(let app, _), .ownerPresent(let app, _): app
    case .answered(let run, _), .withdrawn(let run), .keeperReported(let run, _, _), .keeperEnded(let run, _): run.app
    case .changed(let app, _): app
    case .forgotten(let app), .awaited(let app, _), .attached(let app), .detached(let app), .pushed(let app, _): app
    case .paused, .observed, .resumed, .zoneChanged: nil
    case .survived, .suspending, .freshFor, .began, .expired: nil
    case .enqueued, .transferPaused, .transferCancelled, .transferPrioritized, .transferReported, .transferFetched,
      .transferMoved, .roomFound, .several, .restored:
      nil
    case .configured, .completed, .taskEnded, .retryAfter, .clockStepped, .stopped, .wokeUp: nil
    }
  }

  /// Whether the machine is about to sleep.
  var isSuspending: Bool {
    if case .suspending = self { true } else { false }
  }

  /// Whether it is a step of the wall clock.
  var isClockStep: Bool {
    if case .clockStepped = self { true } else { false }
  }
}
