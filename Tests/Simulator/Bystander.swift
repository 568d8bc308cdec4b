import RefreshEngine

/// What somebody who sees only the events, the starts and the ends would expect of the apps: the checks' own book.
///
/// It follows DESIGN section 4 in its plainest words, without the engine's indexes and requests.
public struct Bystander: Sendable {
  /// A refresh on its way.
  public struct Run: Sendable {
    /// How far it is, and since when.
    public enum Stage: Sendable { case running, warned, terminating(StopReason, since: Instant), killed(StopReason) }
    var id: RefreshID
    var trigger: Trigger
    var startedAt: Instant
    var deadline: Instant
    var grace: Duration
    var stage: Stage
  }

  /// An app, as far as anybody can see.
  public struct App: Sendable {
    var policy: Policy?
    var isForeground = false
    var isLoggedOut = false
    var leases: [LeaseID: Signal] = [:]
    var overrides = Overrides()
    var lastStart: Instant?
    var run: Run?
    /// Something other than time asked for a refresh while one was running.
    var isAsked = false
    /// The foreground interval began when the app came to the foreground, as `on_foreground = "never"` has it.
    var countsFromEntry = false
  }

  var apps: [AppID: App] = [:]
  var limits = Limits()
  var isStopping = false
  /// The stages that refreshes went through, as lines of the diagram of `Refreshing`.
  public internal(set) var transitions: Set<Transition> = []

  /// One step of a refresh from stage to stage.
  public struct Transition: Hashable, Sendable {
    /// The stage before, `started` at the start.
    public var from: String
    /// The stage after.
    public var to: String
    /// The stop reason, or what time brought about.
    public var cause: String
  }

  private var saved: [AppID: App] = [:]

  /// The apps as they are now will be there after a loss of the daemon.
  mutating func save(_ ids: some Sequence<AppID>) {
    for id in ids { saved[id] = apps[id] }
  }

  /// The daemon is gone, and what was not saved with it; no lease outlives it.
  mutating func loseUnsaved() {
    for id in saved.keys {
      saved[id]?.leases = [:]
      saved[id]?.policy = nil
      saved[id]?.run = nil
      saved[id]?.isAsked = false
    }
    apps = saved
    isStopping = false
  }

  /// Another boot has begun, in which the same moments are other instants.
  mutating func shift(by shift: Duration, now: Instant) {
    let change = { (instant: Instant) in min(instant + shift, now) }
    saved = saved.mapValues { app in
      var mapped = app
      mapped.lastStart = app.lastStart.map(change)
      return mapped
    }
    apps = saved
  }

  /// The apps that an event and what was decided on it name, as they are now.
  func apps(in event: Event, _ decision: Decision) -> [AppID: App] {
    var named = decision.changed
    for record in decision.ended { named.insert(record.app) }
    for effect in decision.effects { named.insert(effect.app) }
    if let app = event.app { named.insert(app) }
    return Dictionary(uniqueKeysWithValues: named.compactMap { id in apps[id].map { (id, $0) } })
  }

  mutating func take(_ event: Event, _ decision: Decision, at now: Instant) {
    let phase = event.app.flatMap { apps[$0]?.phase }
    hear(event)
    if let id = event.app, let app = apps[id], app.phase != phase {
      apps[id]?.countsFromEntry = app.phase == .foreground && app.policy?.onForeground == .never
    }
    for effect in decision.effects { see(effect, at: now) }
    for record in decision.ended where apps[record.app]?.run?.id == record.id { apps[record.app]?.run = nil }
    for case .start(let id, let app, let trigger, let deadline) in decision.effects {
      guard let policy = apps[app]?.policy else { continue }
      let isShort = policy.deadline <= .seconds(5)
      apps[app]?.run = Run(
        id: id, trigger: trigger, startedAt: now, deadline: deadline, grace: policy.grace,
        stage: isShort ? .warned : .running)
      apps[app]?.lastStart = now
      apps[app]?.isAsked = false
      apps[app]?.countsFromEntry = false
      note("started", isShort ? "warned" : "running", "time")
    }
  }

  private mutating func hear(_ event: Event) {
    switch event {
    case .configured(let limits, let policies):
      self.limits = limits
      for id in policies.keys where apps[id] == nil { apps[id] = App() }
      for id in apps.keys {
        apps[id]?.policy = policies[id]
        if policies[id] == nil { apps[id]?.isAsked = false }
      }
    case .signalled(let id, let signal):
      guard apps[id]?.policy != nil else { return }
      switch signal {
      case .launched: break
      case .foreground: apps[id]?.isForeground = true
      case .background, .terminated: apps[id]?.isForeground = false
      case .login: apps[id]?.isLoggedOut = false
      case .logout:
        apps[id]?.isLoggedOut = true
        apps[id]?.isAsked = false
      }
    case .leased(let lease, let id, let signal):
      guard apps[id]?.policy != nil else { return }
      apps[id]?.leases[lease] = signal
    case .leaseEnded(let lease, let id): apps[id]?.leases[lease] = nil
    case .overridden(let id, let overrides): apps[id]?.overrides = overrides
    case .requested(let id, _):
      guard let app = apps[id], app.policy != nil, !app.isLoggedOut, app.run != nil else { return }
      apps[id]?.isAsked = true
    case .stopped: isStopping = true
    case .disabled, .scheduled, .skipped, .paused, .observed, .resumed, .zoneChanged: break
    case .completed, .taskEnded, .clockStepped, .wokeUp: break
    }
  }

  private mutating func see(_ effect: Effect, at now: Instant) {
    switch effect {
    case .start: break
    case .warn(let id, let app, _):
      guard apps[app]?.run?.id == id else { return }
      note("running", "warned", "time")
      apps[app]?.run?.stage = .warned
    case .terminate(let id, let app, let reason):
      guard let run = apps[app]?.run, run.id == id else { return }
      if case .warned = run.stage {
        note("warned", "terminating", reason.rawValue)
      } else {
        note("running", "terminating", reason.rawValue)
      }
      apps[app]?.run?.stage = .terminating(reason, since: now)
    case .kill(let id, let app):
      guard let run = apps[app]?.run, run.id == id, case .terminating(let reason, _) = run.stage else { return }
      note("terminating", "killed", "time")
      apps[app]?.run?.stage = .killed(reason)
    }
  }

  private mutating func note(_ from: String, _ to: String, _ cause: String) {
    transitions.insert(Transition(from: from, to: to, cause: cause))
  }
}

extension Bystander.App {
  var phase: Phase {
    if isLoggedOut { return .loggedOut }
    return isForeground || leases.values.contains(.foreground) ? .foreground : .background
  }

  /// The least time between two starts by time; nil for none.
  func spacing(_ limits: Limits) -> Duration? {
    guard let policy else { return nil }
    let (interval, floor): (Interval, Duration)
    switch phase {
    case .loggedOut: return nil
    case .foreground:
      (interval, floor) = (overrides.foregroundInterval ?? policy.foregroundInterval, limits.foregroundFloor)
    case .background:
      (interval, floor) = (overrides.backgroundInterval ?? policy.backgroundInterval, limits.backgroundFloor)
    }
    return switch interval {
    case .never: nil
    case .minimum: floor
    case .every(let time): time > floor ? time : floor
    }
  }
}
