import RefreshAPI
import RefreshEngine

@testable import RefreshDaemon

// Users, apps and the machine, which do something at random times until the world is healed.

extension SimulatedWorld {
  func beginTrouble() {
    for app in apps.map(\.id) {
      every(.minutes(1) ... .hours(2)) { world in world.useApp(app) }
    }
    every(.minutes(20) ... .hours(4)) { world in
      world.disk.weather = world.chance.pick([.prompt, .prompt, .slow, .full, .full, .hanging])
      world.note("the disk is \(world.disk.weather)")
      guard world.disk.weather == .hanging else { return }
      // The disk answers at last, or the administrator ends the daemon and repairs the disk.
      world.after(world.chance.duration(.seconds(1) ... .hours(1))) { [unowned world] in
        guard !world.isHealed else { return }
        world.disk.mend()
        if world.chance.happens(40) { world.life?.crash() }
      }
    }
    every(.minutes(30) ... .hours(5)) { world in
      world.soon { $0.life?.crash(afterCalls: $0.chance.number(below: 12)) }
    }
    every(.hours(2) ... .hours(9)) { world in
      world.note("stop")
      world.life?.daemon.stop()
    }
    every(.minutes(20) ... .hours(3)) { world in
      world.network = world.chance.pick([Network(), Network(reach: .offline), Network(reach: .offline), nil])
      world.isOnBattery = world.chance.happens(30)
      world.life?.machine.report()
    }
    every(.hours(5) ... .hours(15)) { world in world.soon { $0.cutPower() } }
    beginClients()
    beginRooms()
    every(.hours(2) ... .hours(9)) { world in
      world.soon { $0.suspend(for: $0.chance.duration(.seconds(10) ... .hours(3))) }
    }
    every(.hours(2) ... .hours(9)) { world in world.reload() }
    every(.hours(3) ... .hours(9)) { world in
      world.wallError += world.chance.duration(.hours(-5) ... .hours(5))
      world.note("the wall clock is set")
    }
    every(.hours(2) ... .hours(9)) { world in
      guard let daemon = world.life?.daemon else { return }
      let isPaused = daemon.core.engine.device.pause != nil
      daemon.core.handle(.paused(isPaused ? nil : .until(world.instant + .minutes(30))))
    }
  }

  func every(_ range: ClosedRange<Duration>, _ work: @escaping (SimulatedWorld) -> Void) {
    after(chance.duration(range)) { [unowned self] in
      guard !isHealed else { return }
      if life?.isAlive == true { work(self) }
      every(range, work)
    }
  }

  /// Does something at once, or half of the time while a task runs.
  private func soon(_ work: @escaping (SimulatedWorld) -> Void) {
    if chance.happens(50) { work(self) } else { whileTasksRun(work) }
  }

  private func whileTasksRun(_ work: @escaping (SimulatedWorld) -> Void) {
    later(.seconds(3)) { [unowned self] in
      guard !isHealed else { return }
      if processes.live.isEmpty { whileTasksRun(work) } else { work(self) }
    }
  }

  private func useApp(_ app: AppID) {
    switch chance.number(below: 20) {
    case 0..<6: send(chance.pick([.foreground, .background, .launched, .terminated]), of: app)
    case 6, 7: lease(app)
    case 8...12: wish(app)
    case 13...16: push(to: app)
    case 17, 18: life?.daemon.core.handle(.requested(app, .manual))
    default: life?.daemon.core.handle(.scheduled(app, OneShot(earliest: instant + .minutes(20), reason: "later")))
    }
  }

  /// Sends a signal of an app, as its call does.
  func send(_ signal: Signal, of app: AppID) {
    guard let daemon = life?.daemon else { return }
    note("\(signal) of \(app)")
    daemon.core.handle(.signalled(app, signal))
  }

  // MARK: - Durable requests

  /// Changes a setting of an app, as the user's call does; a change that cannot be stored is undone.
  private func wish(_ app: AppID) {
    guard let daemon = life?.daemon, !book.requests.isAsking(app) else { return }
    let state = daemon.core.engine.state(of: app) ?? AppState()
    wishes += 1
    let (event, undo): (Event, Event)
    switch chance.number(below: 3) {
    case 0: (event, undo) = (.disabled(app, !state.isDisabled), .disabled(app, state.isDisabled))
    case 1:
      let signals: (Signal, Signal) = state.isLoggedOut ? (.login, .logout) : (.logout, .login)
      (event, undo) = (.signalled(app, signals.0), .signalled(app, signals.1))
    default:
      var next = state.overrides
      next.foregroundInterval = .every(.seconds(Int64(600 + wishes)))
      (event, undo) = (.overridden(app, next), .overridden(app, state.overrides))
    }
    note("asks for \(event)")
    let answer = book.requests.asks(app)
    daemon.handleDurably([event]) { [unowned self, unowned daemon] problem in
      if problem != nil, fault == .forgetsPromise { return }
      if problem != nil { daemon.core.handle(undo) }
      if problem?.code == .unanswered { book.requests.isUnsure(of: app) }
      if fault != .promisesEarly { answer(problem == nil) }
    }
    if fault == .promisesEarly { answer(true) }
  }

  private func push(to app: AppID) {
    guard let daemon = life?.daemon else { return }
    wishes += 1
    let content = chance.happens(30) ? ",\"content-id\":\"\(chance.number(below: 3))\"" : ""
    let text = "{\"aps\":{\"content-available\":1},\"n\":\(wishes)\(content)}"
    let urgency: Wire.Urgency = chance.pick([.normal, .high])
    let count = chance.happens(5) ? 6 : 1
    do {
      let orders = try (0..<count).map { number in
        CheckedPush(
          app: app,
          payload: try PushPayload(number == 0 ? text : text.replacing("\"n\":", with: "\"m\":\(number),\"n\":")),
          urgency: urgency, message: nil)
      }
      note("\(count) pushes to \(app)")
      let answer = book.requests.asksForPushes(orders.map(\.payload.text))
      daemon.pushes.accept(orders) { result in
        switch result {
        case .success: answer(true)
        case .failure: answer(false)
        }
      }
    } catch {
      book.fail(.daemonOpens, "\(error)")
    }
  }
}
