import RefreshAPI
import RefreshEngine
import RefreshStore
import Varlink

/// The clients that watch events.
final class Watchers: DecisionObserver {
  typealias WatchCall = Call<ManagerInterface.Watch.Parameters>

  private struct Watcher {
    let call: WatchCall
    /// The apps whose events are sent; nil for all apps that the client may ask about.
    let apps: Set<AppID>?
  }

  private unowned let core: DaemonCore
  private var open: [Int: Watcher] = [:]
  private var last = 0
  /// The pause that was last reported; a pause may also end by itself.
  private var pause: Pause?

  init(_ core: DaemonCore) { self.core = core }

  /// Sends a client events until its connection ends.
  func add(_ call: WatchCall, of apps: Set<AppID>?) {
    if open.isEmpty { pause = core.engine.device.pause }
    last += 1
    let number = last
    open[number] = Watcher(call: call, apps: apps)
    call.onDisconnect { self.open[number] = nil }
    let at = core.wall(core.readClocks())
    call.reply(
      ManagerInterface.Watch.Reply(event: Wire.WatchEvent(kind: .watching, atMicroseconds: at)), continues: true)
  }

  func observe(_ decision: Decision, on event: Event, at now: Instant) {
    guard !open.isEmpty else { return }
    let at = core.wall(now)
    for event in event.parts { report(event, decision, at: at) }
    if core.engine.device.pause != pause {
      pause = core.engine.device.pause
      send(Wire.WatchEvent(kind: .switchChanged, atMicroseconds: at, pause: core.engine.wirePause))
    }
    reportWaits(decision, at: now)
    reportRefreshes(decision, at: at)
  }

  private func report(_ event: Event, _ decision: Decision, at: Int64) {
    switch event {
    case .observed(.fact(let fact, let reading)):
      let state = Wire.Condition(reading)
      for app in core.configuration.apps where app.policy.constraints.name(of: fact.constraint) == fact.name {
        report(fact.constraint, state, of: app.id, at: at)
      }
    case .answered(let run, let state):
      if let constraint = run.constraint { report(constraint, Wire.Condition(Reading(state)), of: run.app, at: at) }
    case .observed(let observation):
      let (condition, state) = Wire.Conditions.field(of: observation)
      send(Wire.WatchEvent(kind: .conditionChanged, atMicroseconds: at, condition: condition, state: state))
    case .disabled(let id, let isDisabled) where decision.changes.apps.contains(id):
      send(Wire.WatchEvent(kind: .switchChanged, atMicroseconds: at, app: id.description, isDisabled: isDisabled))
    case .attached(let id): send(Wire.WatchEvent(kind: .attached, atMicroseconds: at, app: id.description))
    case .detached(let id): send(Wire.WatchEvent(kind: .detached, atMicroseconds: at, app: id.description))
    case .pushed(let id, let push):
      report(push: push.contentID, to: id, decision.changes.pushes[push.id] == .merged ? .merged : .queued)
    default: break
    }
  }

  /// Reports a condition of an app's own to the clients that may ask about the app.
  private func report(_ constraint: Constraint, _ state: Wire.Condition, of app: AppID, at: Int64) {
    send(
      Wire.WatchEvent(
        kind: .conditionChanged, atMicroseconds: at, app: app.description, condition: constraint.rawValue, state: state)
    )
  }

  /// Reports that the phase of an app has changed.
  func report(_ phase: Phase, of app: AppID) {
    guard !open.isEmpty else { return }
    let at = core.wall(core.readClocks())
    send(Wire.WatchEvent(kind: .phaseChanged, atMicroseconds: at, app: app.description, phase: Wire.Phase(phase)))
  }

  /// Reports that a push has come for an app.
  func report(push contentID: String?, to app: AppID, _ fate: Wire.PushFate) {
    guard !open.isEmpty else { return }
    let at = core.wall(core.readClocks())
    send(Wire.WatchEvent(kind: .push, atMicroseconds: at, app: app.description, contentID: contentID, fate: fate))
  }

  /// Reports the progress of a task of a refresh.
  func report(progress text: String, of task: String, _ refresh: RefreshID, of app: AppID) {
    guard !open.isEmpty else { return }
    let at = core.wall(core.readClocks())
    send(
      Wire.WatchEvent(
        kind: .progress, atMicroseconds: at, app: app.description, id: refresh.description, task: task, text: text))
  }

  /// Reports that a task of a refresh has ended.
  func report(_ ended: TaskRecord, _ refresh: RefreshID, of app: AppID) {
    guard !open.isEmpty else { return }
    let at = core.wall(core.readClocks())
    send { viewer in
      let ended = Wire.RefreshTask(ended, for: viewer)
      return Wire.WatchEvent(
        kind: .taskEnded, atMicroseconds: at, app: app.description, id: refresh.description,
        task: ended.name, text: ended.message.isEmpty ? ended.cause?.text : ended.message, outcome: ended.outcome)
    }
  }

  private func reportWaits(_ decision: Decision, at now: Instant) {
    let (engine, at) = (core.engine, core.wall(now))
    for record in decision.changes.history.waits {
      let wait = Wire.Wait(StoredWait(record, wallOffset: engine.wallOffset))
      send(Wire.WatchEvent(kind: .released, atMicroseconds: at, app: record.app.description, wait: wait))
    }
    for id in decision.changes.apps.sorted() where engine.state(of: id)?.waiting?.since == now {
      guard case .held(let holds, _) = engine.verdict(on: id, at: now) else { continue }
      send(
        Wire.WatchEvent(kind: .held, atMicroseconds: at, app: id.description, holds: engine.wire(holds, of: id)))
    }
  }

  private func reportRefreshes(_ decision: Decision, at: Int64) {
    for record in decision.changes.history.refreshes {
      let stored = StoredRefresh(record, wallOffset: core.engine.wallOffset)
      send { viewer in
        Wire.WatchEvent(
          kind: .ended, atMicroseconds: at, app: record.app.description,
          refresh: Wire.Refresh(stored, of: record.app, for: viewer))
      }
    }
    for effect in decision.effects {
      switch effect {
      case .start(let refresh, let app, let trigger, _), .perform(let refresh, let app, let trigger, _):
        send(
          Wire.WatchEvent(
            kind: .started, atMicroseconds: at, app: app.description, id: refresh.description,
            trigger: Wire.Trigger(trigger)))
      case .reportStale(let run, let since):
        send(
          Wire.WatchEvent(
            kind: .stale, atMicroseconds: at, app: run.app.description, sinceMicroseconds: core.wall(since)))
      default: continue
      }
    }
  }

  /// Sends an event to each client that asked for it and may see it.
  private func send(_ event: Wire.WatchEvent) { send { _ in event } }

  /// Sends an event that depends on who sees it.
  private func send(_ event: (Viewer) -> Wire.WatchEvent) {
    for viewer in Viewer.allCases {
      let event = event(viewer)
      let reply = ManagerInterface.Watch.Reply(event: event)
      for watcher in open.values where Viewer(watcher.call.peer) == viewer && isWanted(event, by: watcher) {
        watcher.call.reply(reply, continues: true)
      }
    }
  }

  private func isWanted(_ event: Wire.WatchEvent, by watcher: Watcher) -> Bool {
    // An app does not learn of the machine.
    guard event.state == nil || Viewer(watcher.call.peer) == .person else { return false }
    guard let name = event.app else { return true }
    guard let id = AppID(name), watcher.apps?.contains(id) ?? true else { return false }
    return core.may(watcher.call.peer, about: id)
  }
}

extension Event {
  /// The events of `several`, or any other event alone.
  fileprivate var parts: [Event] { if case .several(let events) = self { events } else { [self] } }
}

extension Engine {
  /// The pause of all apps as the socket shows it.
  var wirePause: Wire.PauseState? { device.pause.map { Wire.PauseState($0, wallOffset: wallOffset) } }

  /// Holds on an app as the socket shows them.
  func wire(_ holds: [Hold], of app: AppID) -> [Wire.Hold] {
    holds.map { $0.wire(of: app.description, wallOffset: wallOffset) }
  }
}
