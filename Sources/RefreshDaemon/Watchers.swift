import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

/// The calls that are told what happens (FEATURES H7).
struct Watchers {
  /// One of them.
  struct Watcher {
    let call: Call<ManagerInterface.Watch.Parameters>
    /// The apps that it is told about; nil for all that it may ask about.
    let apps: Set<AppID>?
  }

  private(set) var all: [Int: Watcher] = [:]
  private var last = 0
  /// The pause that they were told of, which also ends by itself.
  var pause: Pause?

  /// Takes up a call, and gives the number to remove it by.
  mutating func add(_ watcher: Watcher) -> Int {
    last += 1
    all[last] = watcher
    return last
  }

  /// Forgets a call.
  mutating func remove(_ number: Int) { all[number] = nil }
}

extension Daemon {
  /// Tells those who watch what an event and the decision on it come to.
  func tellWatchers(of event: Event, _ decision: Decision, at now: Instant) {
    guard !watchers.all.isEmpty else { return }
    let at = now.wallMicroseconds(at: engine.wallOffset)
    if case .observed(let observation) = event {
      let (condition, state) = observation.wire
      tell(Wire.WatchEvent(kind: .conditionChanged, atMicroseconds: at, condition: condition, state: state))
    }
    if case .disabled(let id, let isDisabled) = event, decision.changed.contains(id) {
      tell(Wire.WatchEvent(kind: .switchChanged, atMicroseconds: at, app: id.description, isDisabled: isDisabled))
    }
    switch event {
    case .attached(let id): tell(Wire.WatchEvent(kind: .attached, atMicroseconds: at, app: id.description))
    case .detached(let id): tell(Wire.WatchEvent(kind: .detached, atMicroseconds: at, app: id.description))
    default: break
    }
    if case .pushed(let id, let push) = event {
      // What was merged into another has no change of its own.
      tellWatchers(ofPush: push.contentID, to: id, decision.pushes[push.id] == nil ? .merged : .queued)
    }
    if engine.device.pause != watchers.pause {
      watchers.pause = engine.device.pause
      tell(Wire.WatchEvent(kind: .switchChanged, atMicroseconds: at, pause: pauseState))
    }
    tellOfWaits(decision, at: now)
    tellOfRefreshes(decision, at: at)
  }

  private func tellOfWaits(_ decision: Decision, at now: Instant) {
    let at = now.wallMicroseconds(at: engine.wallOffset)
    for record in decision.waited {
      let wait = Wire.Wait(StoredWait(record, wallOffset: engine.wallOffset))
      tell(Wire.WatchEvent(kind: .released, atMicroseconds: at, app: record.app.description, wait: wait))
    }
    for id in decision.changed.sorted() where engine.state(of: id)?.waiting?.since == now {
      guard case .held(let holds) = engine.verdict(on: id, at: now) else { continue }
      tell(Wire.WatchEvent(kind: .held, atMicroseconds: at, app: id.description, holds: wire(holds, of: id)))
    }
  }

  private func tellOfRefreshes(_ decision: Decision, at microseconds: Int64) {
    for record in decision.ended {
      let refresh = Wire.Refresh(StoredRefresh(record, wallOffset: engine.wallOffset))
      tell(
        Wire.WatchEvent(kind: .ended, atMicroseconds: microseconds, app: record.app.description, refresh: refresh))
    }
    for effect in decision.effects {
      switch effect {
      case .start(let refresh, let app, let trigger, _), .perform(let refresh, let app, let trigger, _):
        tell(
          Wire.WatchEvent(
            kind: .started, atMicroseconds: microseconds, app: app.description, id: refresh.description,
            trigger: Wire.Trigger(trigger)))
      case .tellStale(_, let app, let since):
        tell(
          Wire.WatchEvent(
            kind: .stale, atMicroseconds: microseconds, app: app.description,
            sinceMicroseconds: since.wallMicroseconds(at: engine.wallOffset)))
      default: continue
      }
    }
  }

  /// Tells those who watch that an app is in another phase.
  func tellWatchers(of phase: Phase, of app: AppID) {
    guard !watchers.all.isEmpty else { return }
    let at = readClocks().wallMicroseconds(at: engine.wallOffset)
    tell(
      Wire.WatchEvent(
        kind: .phaseChanged, atMicroseconds: at, app: app.description, phase: Wire.Phase(phase)))
  }

  /// Tells those who watch that a push has come for an app.
  func tellWatchers(ofPush contentID: String?, to app: AppID, _ fate: Wire.PushFate) {
    guard !watchers.all.isEmpty else { return }
    let at = readClocks().wallMicroseconds(at: engine.wallOffset)
    tell(
      Wire.WatchEvent(kind: .push, atMicroseconds: at, app: app.description, contentID: contentID, fate: fate))
  }

  /// Tells each watcher what it asked for and may know.
  private func tell(_ event: Wire.WatchEvent) {
    let reply = ManagerInterface.Watch.Reply(event: event)
    for watcher in watchers.all.values where isToBeTold(watcher, of: event) {
      watcher.call.reply(reply, continues: true)
    }
  }

  private func isToBeTold(_ watcher: Watchers.Watcher, of event: Wire.WatchEvent) -> Bool {
    guard let name = event.app else { return true }
    guard let id = AppID(name) else { return false }
    if let apps = watcher.apps, !apps.contains(id) { return false }
    guard let app = configuration[id] else { return access.mayAll(watcher.call.peer) }
    return access.may(watcher.call.peer, about: app)
  }
}

extension Observation {
  /// The name of the condition, as it is a field of `Conditions` on the socket, and what it is now.
  fileprivate var wire: (String, Wire.Condition) {
    switch self {
    case .network(let reading): ("network", Wire.Condition(reading) { $0.text })
    case .power(let reading): ("power", Wire.Condition(reading) { $0.text })
    case .powerSaver(let reading): ("power_saver", Wire.Condition(reading) { $0 ? "on" : "off" })
    case .idle(let reading): ("idle", Wire.Condition(reading) { $0 ? "idle" : "in use" })
    case .pressure(let reading): ("pressure", Wire.Condition(reading) { $0 ? "under pressure" : "calm" })
    }
  }
}
