import RefreshEngine

extension Effect {
  /// The app that the effect is about.
  var app: AppID {
    switch self {
    case .start(_, let app, _, _), .perform(_, let app, _, _), .startTask(_, let app, _), .warn(_, let app, _),
      .terminate(_, let app, _),
      .kill(_, let app), .tellStale(_, let app, _):
      app
    }
  }
}

extension Event {
  /// The app that the event names, if it names one.
  var app: AppID? {
    switch self {
    case .signalled(let app, _), .leased(_, let app, _), .leaseEnded(_, let app), .overridden(let app, _): app
    case .requested(let app, _), .scheduled(let app, _), .disabled(let app, _), .skipped(let app): app
    case .forgotten(let app), .attached(let app), .detached(let app): app
    case .paused, .observed, .resumed, .zoneChanged: nil
    case .survived, .suspending: nil
    case .configured, .completed, .taskEnded, .retryAfter, .clockStepped, .stopped, .wokeUp: nil
    }
  }

  /// Whether it is a step of the wall clock.
  var isClockStep: Bool {
    if case .clockStepped = self { true } else { false }
  }
}
