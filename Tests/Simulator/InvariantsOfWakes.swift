import RefreshEngine

struct WakeIsTheMinimum: Invariant {
  static let promise = "The next wake serves every window that has begun when the first one ends."

  func observe(_ observation: Observation, in world: borrowing World) -> String? {
    guard case .handled = observation, let brain = world.brain else { return nil }
    var windows: [Window] = []
    for id in world.ids {
      let count = windows.count
      switch brain.verdict(on: id, at: world.instant) {
      case .notDue(let until):
        let explanation = brain.explain(id, at: world.instant)
        guard let window = explanation?.window, window.earliest == until else {
          return "\(id) is explained in another way than it is judged"
        }
        let slack = until.duration(to: window.latest)
        let slacks = slacks(of: id, for: explanation?.trigger, in: world)
        let isCut = endsAtQuietHours(window, of: id, in: world) && slack < slacks.upperBound
        if !isCut, !slacks.contains(slack) {
          return "\(id) may wait \(slack) for company"
        }
        windows.append(window)
      case .held(let holds):
        var ends = holds.compactMap(\.end)
        if let next = nextQuestion(of: id, by: holds, in: world) { ends.append(next) }
        let oneShot = world.book.apps[id]?.oneShot?.earliest
        if holds.allSatisfy(\.isOfDue), let oneShot, oneShot > world.instant { ends.append(oneShot) }
        let told = brain.explain(id, at: world.instant)?.drained.map(\.earliest).min()
        if holds.allSatisfy(\.isOfDue), let told, told > world.instant { ends.append(told) }
        let pushes = brain.explain(id, at: world.instant)?.pushes ?? []
        if holds.allSatisfy(\.isOfDue), !pushes.contains(where: { $0.wait == .ready }) {
          ends += pushes.compactMap(\.wait.end)
        }
        if holds.allSatisfy(\.isOfDue), brain.explain(id, at: world.instant)?.trigger.map(\.isDeferrable) ?? false,
          let quiet = world.book.apps[id]?.policy?.quiet
        {
          ends.append(world.book.beginning(of: quiet, after: world.instant))
        }
        windows += ends.min().map { [Window(earliest: $0, latest: $0)] } ?? []
      case .refreshing:
        if let step = world.book.apps[id]?.run?.nextStep { windows.append(Window(earliest: step, latest: step)) }
      case .ready, .clear: break
      }
      let explanation = brain.explain(id, at: world.instant)
      let ends = [explanation?.reportsStale, explanation?.reportsHeld, explanation?.countsAsOpenedAt]
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

  /// When the command is asked again that keeps an app, if nothing but commands does.
  private func nextQuestion(of id: AppID, by holds: [Hold], in world: borrowing World) -> Instant? {
    guard holds.areQuestions, let first = holds.first?.name, world.book.apps[id]?.questions.isEmpty == true else {
      return nil
    }
    let terms = world.brain?.explain(id, at: world.instant)?.terms ?? []
    return terms.first { $0.constraint.rawValue == first.rawValue }?.question?.nextAt
  }

  /// Whether a window ends a second before the app's quiet hours begin, or at once because they begin sooner.
  private func endsAtQuietHours(_ window: Window, of id: AppID, in world: borrowing World) -> Bool {
    guard let quiet = world.book.apps[id]?.policy?.quiet else { return false }
    let last = world.book.beginning(of: quiet, after: window.earliest) - .seconds(1)
    return window.latest == max(window.earliest, last)
  }

  /// How long an app may wait for company: half of a tenth of its interval, 15 min at most, and up to as much again.
  private func slacks(of id: AppID, for trigger: Trigger?, in world: borrowing World) -> ClosedRange<Duration> {
    guard trigger == .interval, let app = world.book.apps[id], app.phase == .background, app.lastStart != nil,
      let spacing = app.spacing(world.book.limits)
    else { return .zero ... .zero }
    let half = min(.minutes(15), spacing / 10) / 2
    // A plan waits a tenth of its wait, half of it before its moment; only the engine knows the moment.
    if app.policy?.isAdaptive == true { return .zero ... .minutes(15) }
    // An app with its instant in a backlog waits for no company, and a one-shot not longer.
    let drained = world.brain?.explain(id, at: world.instant)?.drained ?? []
    let waitsForTold = world.brain?.engine.pushes(of: id).isEmpty == false || !drained.isEmpty
    let isPlaced = world.brain?.state(of: id)?.request != nil || app.oneShot != nil || waitsForTold || app.change != nil
    return (isPlaced ? .zero : half)...half * 2
  }
}

extension [Hold] {
  /// Whether nothing holds the app but commands that are asked.
  var areQuestions: Bool { allSatisfy { [.reachable, .when].contains($0.name) } }

  /// The names that are worth a line of the history.
  var recorded: [Hold.Name] {
    map(\.name).filter { ![.never, .stopping, .settling, .suspending, .concurrency].contains($0) }
  }
}

extension WaitingPush.Wait {
  /// When time lifts it, if it does.
  fileprivate var end: Instant? {
    switch self {
    case .limit(let until), .retry(let until): until
    case .ready, .turn, .urgency, .terminated: nil
    }
  }
}

extension Trigger {
  /// Whether nobody waits for what it starts.
  fileprivate var isDeferrable: Bool { self == .interval || self == .catchUp || self == .retry || self == .change }
}

extension Hold {
  /// Whether it keeps what is due and quiet hours may join it.
  fileprivate var isOfDue: Bool {
    switch self {
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .never, .stopping, .suspending: false
    case .paused, .quiet, .constraint, .powerSaver, .settling, .unsteady, .noPerformer, .concurrency: true
    }
  }

  /// When time changes it, if it does.
  fileprivate var end: Instant? {
    switch self {
    case .quiet(let until), .settling(let until), .unsteady(let until), .paused(.until(let until)): until
    case .constraint(_, let relaxedAt): relaxedAt
    case .notConfigured, .misconfigured, .loggedOut, .disabled, .paused, .never, .powerSaver: nil
    case .concurrency, .stopping, .suspending, .noPerformer: nil
    }
  }
}

extension Bystander.Run {
  /// When time brings it to its next stage.
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
