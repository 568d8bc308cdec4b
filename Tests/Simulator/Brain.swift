import RefreshEngine

/// The engine of the simulated daemon, with a planted fault if a test wants one.
public struct Brain: Sendable {
  var engine: Engine
  let fault: PlantedFault?

  init(
    start: UInt32, store: Store, wallOffset: Duration, zone: Zone, lateClock: LateClock?, awaitsBegin: Bool,
    fault: PlantedFault?
  ) {
    let restored = fault?.restoring.map { store.states.mapValues($0) } ?? store.states
    engine = Engine(
      start: start, spread: Spread(machine: 42), states: restored, wallOffset: wallOffset, zone: zone,
      device: store.device, learned: store.learned, transfers: store.transfers, pushes: store.pushesOfApps,
      lateClock: lateClock,
      awaitsBegin: awaitsBegin || fault?.ofDaemon == .concealsStarts)
    self.fault = fault
  }

  mutating func handle(_ event: Event, at now: Instant) -> Decision {
    guard let fault else { return engine.handle(event, at: now) }
    var decision = Decision()
    for heard in fault.hearing?(event, engine) ?? [event] {
      decision.merge(engine.handle(heard, at: now))
    }
    fault.deciding?(&decision, event)
    return decision
  }

  var nextWake: Window? {
    let wake = engine.nextWake
    return fault?.waking.map { change in wake.map(change) } ?? wake
  }

  func verdict(on app: AppID, at now: Instant) -> Verdict { engine.verdict(on: app, at: now) }

  func explain(_ app: AppID, at now: Instant) -> Explanation? { engine.explain(app, at: now) }

  func prospect(of app: AppID, at now: Instant, _ nights: inout NightsAhead) -> Prospect? {
    let prospect = engine.prospect(of: app, at: now, &nights)
    return fault?.foretelling.map { change in prospect.map(change) } ?? prospect
  }

  func state(of app: AppID) -> AppState? { engine.state(of: app) }
}

/// A deliberate fault, to see that a check finds it.
public struct PlantedFault: Sendable {
  /// A mistake of the daemon around the engine.
  public enum OfDaemon: Sendable {
    case performsBeforeSaving
    case leavesOrphans
    case losesEndsOfTasks
    case concealsStarts
    case doesNotWaitForDisk
    case signalsWaitForDisk
    case startsWhatWasStopped
    case forgetsTimeOff
  }

  /// The fault, in one sentence.
  public var name: String
  /// Returns the events that the engine gets instead of an event.
  public var hearing: (@Sendable (Event, Engine) -> [Event])?
  /// Changes the engine's decision on an event.
  public var deciding: (@Sendable (inout Decision, Event) -> Void)?
  /// Returns the window in which the engine is woken instead.
  public var waking: (@Sendable (Window) -> Window)?
  /// Returns the state that the engine loads from the store instead.
  public var restoring: (@Sendable (AppState) -> AppState)?
  /// Returns the prospect of an app's next start that the engine reports instead.
  public var foretelling: (@Sendable (Prospect) -> Prospect)?
  /// The daemon's mistake.
  public var ofDaemon: OfDaemon?

  /// Makes a fault without effect; set one of its hooks.
  public init(_ name: String) { self.name = name }
}
