// Checks constraints against conditions: which are met, which are relaxed, and which are lost during a refresh.

extension Engine {
  /// A battery is low below this, in percent.
  static let lowBattery = 20

  /// Applies a condition: judges held apps anew, and warns, stops or keeps the running refreshes that it concerns.
  mutating func observe(_ observation: Observation, _ turn: inout Turn) {
    let before = conditions
    conditions.apply(observation)
    guard conditions != before else { return }
    if device.pause == .untilAC, conditions.power.value?.onBattery == false { setPause(nil, &turn) }
    turn.touched.insert(held.all)
    if conditions.network != before.network || conditions.facts != before.facts { transfers.isTouched = true }
    if conditions.network != before.network { hastenQuestions(at: turn.now) }
    if before.powerSaver.value != conditions.powerSaver.value, limits.powerSaver == .dearer {
      beginRound(.planning(everyApp: true), at: turn.now)
    }
    for id in running.values.sorted() {
      guard let index = apps.index(of: id), let policy = apps[index].policy, var refreshing = apps[index].refreshing
      else { continue }
      if apps[index].needsNothing(for: refreshing.started.trigger) { continue }
      let kept = Constraint.allCases.filter { $0.isKept(byLongWork: policy.isProcessing) }
      // An unknown condition is not lost: a refresh that survived the previous daemon goes on.
      let lost = kept.filter {
        !isUnanswered($0, of: policy.constraints, by: apps[index]) && !isMet($0, by: apps[index], at: turn.now)
      }
      var effect: Effect?
      if lost.isEmpty {
        refreshing.regain(at: turn.now)
      } else {
        effect = refreshing.lose(text(lacking: lost, by: apps[index]), app: id, at: turn.now)
      }
      keepOrEnd(index, refreshing, effect, &turn)
    }
  }

  /// The constraints of an app that are neither met nor relaxed at an instant, as holds.
  func unmet(_ app: App, at now: Instant) -> [Hold] {
    var holds: [Hold] = []
    for constraint in Constraint.allCases where !isMet(constraint, by: app, at: now) {
      holds.append(.constraint(constraint, relaxedAt: app.relaxedAt(constraint).flatMap { $0 > now ? $0 : nil }))
    }
    return holds
  }

  /// Whether a constraint allows a refresh of an app: the app does not have it, it is met, or it is relaxed.
  func isMet(_ constraint: Constraint, by app: App, at now: Instant) -> Bool {
    guard let constraints = app.policy?.constraints, constraints.asks(for: constraint) else { return true }
    let isMetUnrelaxed = isMet(constraint, of: constraints, by: app, at: now)
    // The relaxation comes last, because it reads each app's age of the data, and most constraints are met.
    guard !isMetUnrelaxed, let relaxedAt = app.relaxedAt(constraint), relaxedAt <= now else { return isMetUnrelaxed }
    return constraint != .network || isNetworkMet(constraints, isRelaxed: true)
  }

  func isMet(_ constraint: PowerConstraint) -> Bool {
    switch constraint {
    case .any: true
    case .ac: isMet(conditions.power) { !$0.onBattery }
    case .notLow: isMet(conditions.power) { !$0.onBattery || $0.percent.map { $0 >= Self.lowBattery } ?? true }
    }
  }

  /// Whether the network meets the constraints; relaxed, they allow a metered network, but keep the reach and the names.
  func isNetworkMet(_ constraints: Constraints, isRelaxed: Bool = false) -> Bool {
    isMet(conditions.network) { network in
      if constraints.network != .none && network.reach != .full { return false }
      if network.medium == .wifi, let ssid = network.ssid {
        if constraints.deniedSSIDs.contains(ssid) { return false }
        if !constraints.ssids.isEmpty && !constraints.ssids.contains(ssid) { return false }
      }
      return switch constraints.network {
      case .none, .any: true
      case .unmetered: isRelaxed || !network.metered.isMetered
      case .wifi: isRelaxed || network.medium == .wifi
      }
    }
  }

  /// Whether a condition passes a test: never before the first answer; `unknown_is_met` decides for an unknown condition.
  func isMet<Value>(_ reading: Reading<Value>, _ test: (Value) -> Bool) -> Bool {
    guard !reading.isUnanswered else { return false }
    return reading.value.map(test) ?? limits.unknownIsMet
  }
}
