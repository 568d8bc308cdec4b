import RefreshEngine

struct MemoryIsDisk: Invariant {
  static let promise = "After each transaction the store holds what the engine holds."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .saved = observation, let brain = world.brain else { return nil }
    for id in world.ids where (brain.state(of: id) ?? AppState()) != (world.store.states[id] ?? AppState()) {
      return "\(id) is \(String(describing: brain.state(of: id))), not \(String(describing: world.store.states[id]))"
    }
    for id in Set(brain.engine.transferIDs).union(world.store.transfers.keys) {
      let (state, saved) = (brain.engine.transferState(of: id), world.store.transfers[id])
      if state != saved { return "transfer \(id) is \(String(describing: state)), not \(String(describing: saved))" }
    }
    for id in world.ids {
      let saved = world.store.pushesOfApps[id] ?? []
      if brain.engine.pushes(of: id) != saved { return "the pushes of \(id) are others" }
    }
    let (device, saved) = (brain.engine.device, world.store.device)
    if device.pause != saved.pause { return "the pause is another one" }
    if device.day != saved.day { return "the last night is another one" }
    if device.learnings.encoded != saved.learnings.encoded { return "what is learnt of all apps is another thing" }
    return brain.engine.wallOffset == world.store.wallOffset ? nil : "the clock is another one"
  }
}

struct SurvivesRestart: Invariant {
  static let promise =
    "Overrides, logins, phases, the user's word and the last start are there again after a restart and a reboot."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .daemonStarted = observation, let brain = world.brain else { return nil }
    for (id, app) in world.book.apps {
      guard let state = brain.state(of: id) else { return "\(id) is forgotten" }
      if state.overrides != app.overrides { return "\(id) has other intervals" }
      if state.isLoggedOut != app.isLoggedOut || state.isForeground != app.isForeground { return "\(id) is elsewhere" }
      if state.isDisabled != app.isDisabled || state.oneShot != app.oneShot {
        return "\(id) has forgotten the user's word"
      }
      if state.isStaleReported != app.isStaleReported { return "\(id) has forgotten what was reported" }
      // A start that waited for the disk is saved with its decision first, and with its real time later.
      if state.lastStart != app.lastStart, !world.hangs || state.lastStart == nil {
        return "\(id) has forgotten its last start"
      }
    }
    return nil
  }
}

struct SavedBeforePerformed: Invariant {
  static let promise = "No refresh starts whose start is not saved, unless the disk is full."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .performed(let effect) = observation, let new = effect.beginning, !world.isDiskFull else { return nil }
    return world.store.states[new.app]?.running?.id == new.id ? nil : "\(new.id) of \(new.app) starts and is not saved"
  }
}
