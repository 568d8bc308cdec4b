import RefreshEngine

struct WakeIsTheMinimum: Invariant {
  static let promise = "The next wake serves every window that has begun when the first one ends."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled = observation, let brain = world.brain else { return nil }
    var windows: [Window] = []
    for id in world.ids {
      let count = windows.count
      // Made once, because it takes longer than all else that is looked at here.
      let explanation = brain.explain(id, at: world.instant)
      switch brain.verdict(on: id, at: world.instant) {
      case .notDue(let due):
        guard let window = explanation?.window, window.earliest == due.window.earliest else {
          return "\(id) is explained in another way than it is judged"
        }
        let slack = window.earliest.duration(to: window.latest)
        let slacks = slacks(of: id, explanation, in: world)
        let isCut = endsAtQuietHours(window, of: id, in: world) && slack < slacks.upperBound
        if !isCut, !slacks.contains(slack) {
          return "\(id) may wait \(slack) for company"
        }
        windows.append(window)
      case .held(let holds, _):
        var ends = holds.compactMap(\.end)
        if let next = nextQuestion(of: id, by: holds, explanation, in: world) { ends.append(next) }
        let oneShot = world.book.apps[id]?.oneShot?.earliest
        if holds.allSatisfy(\.isOfDue), let oneShot, oneShot > world.instant { ends.append(oneShot) }
        let told = explanation?.drained.map(\.earliest).min()
        if holds.allSatisfy(\.isOfDue), let told, told > world.instant { ends.append(told) }
        let pushes = explanation?.pushes ?? []
        if holds.allSatisfy(\.isOfDue), !pushes.contains(where: { $0.wait == .ready }) {
          ends += pushes.compactMap(\.wait.end)
        }
        if holds.allSatisfy(\.isOfDue), explanation?.trigger.map(\.isDeferrable) ?? false,
          let quiet = world.book.apps[id]?.policy?.quiet
        {
          ends.append(world.book.beginning(of: quiet, after: world.instant))
        }
        windows += ends.min().map { [Window(earliest: $0, latest: $0)] } ?? []
      case .refreshing:
        let run = world.book.apps[id]?.run
        let steps = [run?.nextStep, run?.countsLess(after: world.instant)].compactMap(\.self)
        if let step = steps.min() { windows.append(Window(earliest: step, latest: step)) }
      case .ready, .clear: break
      }
      let ends = [explanation?.reportsStaleAt, explanation?.reportsHeldAt, explanation?.countsAsOpenedAt]
      for end in ends.compactMap(\.self) {
        let other = windows.count > count ? windows.removeLast() : Window(earliest: end, latest: end)
        windows.append(Window(earliest: min(other.earliest, end), latest: min(other.latest, end)))
      }
    }
    let own = [brain.engine.roundWake, brain.engine.transferWake.map { Window(earliest: $0, latest: $0) }]
    if let first = own.compactMap(\.self).min(by: { $0.latest < $1.latest }) { windows.append(first) }
    let end = windows.map(\.latest).min()
    let wake = end.flatMap { end in
      windows.map(\.earliest).filter { $0 <= end }.max().map { Window(earliest: $0, latest: end) }
    }
    guard brain.nextWake != wake else { return nil }
    return "the next wake is \(String(describing: brain.nextWake)) instead of \(String(describing: wake))"
  }

  /// The time of the next question, if only commands hold an app.
  private func nextQuestion(
    of id: AppID, by holds: [Hold], _ explanation: Explanation?, in world: borrowing World
  ) -> Instant? {
    guard holds.areQuestions, let first = holds.first?.name, world.book.apps[id]?.questions.isEmpty == true else {
      return nil
    }
    return explanation?.terms.first { $0.constraint.rawValue == first.rawValue }?.question?.nextAt
  }

  /// Whether a window ends a second before the app's quiet hours, or at once because they begin earlier.
  private func endsAtQuietHours(_ window: Window, of id: AppID, in world: borrowing World) -> Bool {
    guard let quiet = world.book.apps[id]?.policy?.quiet else { return false }
    let last = world.book.beginning(of: quiet, after: window.earliest) - .seconds(1)
    return window.latest == max(window.earliest, last)
  }

  /// How long an app may wait for company: from half to all of a tenth of its interval, which is at most 15 min.
  private func slacks(
    of id: AppID, _ explanation: Explanation?, in world: borrowing World
  ) -> ClosedRange<Duration> {
    guard explanation?.trigger == .interval, let app = world.book.apps[id], app.phase == .background,
      app.lastStart != nil,
      let spacing = app.spacing(world.book.limits)
    else { return .zero ... .zero }
    let half = min(.minutes(15), spacing / 10) / 2
    // A plan may wait a tenth of its wait, half of that before its time; only the engine knows the time.
    if app.policy?.backgroundInterval.isAuto == true { return .zero ... .minutes(15) }
    // An app that something else may start, such as its place in a backlog, may wait for less.
    let waitsForTold = world.brain?.engine.pushes(of: id).isEmpty == false || explanation?.drained.isEmpty == false
    let isPlaced = world.brain?.state(of: id)?.request != nil || app.oneShot != nil || waitsForTold || app.change != nil
    return (isPlaced ? .zero : half)...half * 2
  }
}

extension [Hold] {
  /// Whether only conditions that a command answers hold the app.
  var areQuestions: Bool { allSatisfy { [.reachable, .when].contains($0.name) } }

  /// The holds that the history records.
  var recorded: [Hold.Name] {
    map(\.name).filter { ![.never, .stopping, .settling, .suspending, .concurrency].contains($0) }
  }
}

extension WaitingPush.Wait {
  /// The time at which time alone ends the hold; nil for never.
  fileprivate var end: Instant? {
    switch self {
    case .limit(let until), .retry(let until): until
    case .ready, .turn, .urgency, .terminated: nil
    }
  }
}

extension Trigger {
  /// Whether nobody waits for the started refresh.
  fileprivate var isDeferrable: Bool { self == .interval || self == .catchUp || self == .retry || self == .change }
}

extension Hold {
  /// Whether the hold keeps a due refresh, and quiet hours may be added to it.
  fileprivate var isOfDue: Bool {
    switch self {
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .stopping, .suspending: false
    case .paused, .quiet, .constraint, .powerSaver, .settling, .unsteady, .wakeLimit, .noPerformer, .concurrency: true
    }
  }

  /// The time at which time alone changes it; nil for never.
  fileprivate var end: Instant? {
    switch self {
    case .quiet(let until), .settling(let until), .unsteady(let until), .wakeLimit(let until),
      .paused(.until(let until)):
      until
    case .constraint(_, let relaxedAt): relaxedAt
    case .noPerformer(let until): until
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .paused, .never, .powerSaver: nil
    case .concurrency, .stopping, .suspending: nil
    }
  }
}

extension Bystander.Run {
  /// When it begins to count against its own user only.
  var agesAt: Instant { startedAt + .minutes(1) }

  /// The same; nil if it does already.
  func countsLess(after now: Instant) -> Instant? { hasBegun && holdsSlot && now < agesAt ? agesAt : nil }

  /// The time of its next stage; nil if time does not change it.
  var nextStep: Instant? {
    guard hasBegun else { return nil }
    return switch stage {
    case .running: deadline - .seconds(5)
    case .warned: min(deadline, sleep?.stop ?? deadline, lossStop ?? deadline)
    case .terminating(_, let since): min(since + grace, sleep?.kill ?? since + grace)
    case .killed(_, let since): since + .seconds(10)
    case .stuck: nil
    }
  }
}
