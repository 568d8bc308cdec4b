import RefreshAPI
import RefreshEngine
import RefreshStore

/// The verdict on an app at an instant, term by term, as the socket shows it.
struct ExplanationView {
  let view: AppView
  let explanation: Explanation
  let conditions: Conditions
  let pause: Pause?
  let past: [Wire.Past]
  /// How many pushes have woken the app in the window of the limit.
  let pushesUsed: Int
  let pushesDropped: [StoredDroppedPush]
  /// Minutes by which local time is ahead of UTC.
  let minutesEast: Int
  /// Why the past is missing.
  let pastProblem: String?
  /// Why no task can be started at present.
  let launcherProblem: String?
  /// The app's watched folders.
  let watched: [(folder: WatchedFolder, state: WatchedState)]
  /// The last ping, if it failed.
  let pingProblem: Wire.PingProblem?
  let viewer: Viewer

  var wire: Wire.Explanation {
    let (row, intervals) = (view.row, view.intervals)
    return Wire.Explanation(
      id: row.id, name: row.name, phase: row.phase, presence: Wire.Presence(explanation.presence),
      isPhaseReported: explanation.isPhaseReported ? true : nil, verdict: row.verdict,
      trigger: explanation.trigger.map(Wire.Trigger.init),
      window: explanation.window.map {
        Wire.Window(earliestMicroseconds: wall($0.earliest), latestMicroseconds: wall($0.latest))
      },
      holds: row.holds, next: view.next, awaitsSessionOf: view.awaitsSessionOf, running: view.running,
      interval: interval(of: intervals),
      freshMicroseconds: row.freshMicroseconds, floorMicroseconds: explanation.floor.map(wall),
      staleMicroseconds: explanation.staleAt.map(wall), isProcessing: view.app.policy.isProcessing,
      terms: explanation.terms.map(term),
      quiet: view.app.policy.quiet.map {
        Wire.QuietHours(fromMinutes: $0.from, toMinutes: $0.to, eastMinutes: minutesEast)
      },
      isDisabled: view.state.isDisabled, pause: pause.map { Wire.PauseState($0, wallOffset: view.wallOffset) },
      failures: explanation.failures, strikes: view.state.strikes.count,
      restsUntilMicroseconds: explanation.restsUntil.map(wall),
      skippedUntilMicroseconds: explanation.skippedUntil.map(wall),
      freshUntilMicroseconds: explanation.freshUntil.map(wall),
      oneShot: explanation.oneShot.map { Wire.OneShot($0, wallOffset: view.wallOffset) },
      waiting: explanation.waiting.map { Wire.Waiting($0, wallOffset: view.wallOffset) },
      planning: explanation.planning.map(planning), conditions: Wire.Conditions(conditions, for: viewer),
      past: past,
      pastProblem: pastProblem,
      pushes: explanation.pushes.map { Wire.PushWaiting($0, wallOffset: view.wallOffset) },
      pushesDropped: pushesDropped.map(Wire.DroppedPush.init), pushLimit: pushLimit,
      launcherProblem: launcherProblem, guarded: row.guarded,
      watched: watched.isEmpty ? nil : watched.map(Wire.WatchedFolder.init),
      watchSettleMicroseconds: watched.isEmpty ? nil : view.app.policy.watchSettle.inMicroseconds,
      change: explanation.change.map {
        Wire.LocalChange(sinceMicroseconds: wall($0.since), lastMicroseconds: wall($0.last), folder: $0.folder)
      },
      failuresInRow: view.state.streak.map { Int($0.count) }, ping: view.app.ends.ping?.host, pingProblem: pingProblem,
      skipsAll: explanation.skipsAll ? true : nil, late: row.late)
  }

  private var pushLimit: Wire.PushLimit {
    let limit = view.app.policy.pushLimit
    return Wire.PushLimit(perHour: limit.perHour, burst: limit.burst, used: pushesUsed)
  }

  private func planning(_ planning: Explanation.Planning) -> Wire.Planning {
    Wire.Planning(
      plannedMicroseconds: wall(planning.planned), ceilingMicroseconds: wall(planning.ceiling),
      worth: planning.plan.worth, price: planning.plan.price, machinePrice: planning.price, cost: planning.habits.cost,
      newDataPerDay: planning.habits.newDataPerDay, openingsPerDay: planning.habits.usage.openingsPerDay,
      openingsExpected: planning.plan.openingsExpected, likelyOpeningMinutes: planning.plan.likelyOpening,
      habit: planning.habit.map(Wire.Habit.init), isDormant: planning.plan.isDormant)
  }

  private func interval(of intervals: Wire.Intervals) -> Wire.Interval? {
    switch view.phase {
    case .foreground: intervals.foreground
    case .background: intervals.background
    case .loggedOut: nil
    }
  }

  private func term(_ term: Explanation.Term) -> Wire.Term {
    let constraints = viewer.seen(view.app.policy.constraints)
    let condition = viewer.seen(Wire.Condition(term, of: constraints, in: conditions), isMet: term.isMet)
    return Wire.Term(
      constraint: term.constraint.rawValue, needs: constraints.needs(term.constraint),
      waitsFor: constraints.waitsFor(term.constraint),
      has: condition.value, source: condition.source, problem: condition.problem, isMet: term.isMet,
      isUnknown: term.isUnknown,
      relaxedMicroseconds: term.relaxedAt.map(wall), isRelaxed: term.isRelaxed,
      question: term.question.map { question in
        Wire.Question(
          isAsked: question.isAsked, answeredMicroseconds: question.answeredAt.map(wall),
          nextMicroseconds: question.nextAt.map(wall))
      })
  }

  private func wall(_ instant: Instant) -> Int64 { instant.wallMicroseconds(at: view.wallOffset) }
}

extension Wire.WatchedFolder {
  init(_ folder: WatchedFolder, _ state: WatchedState) {
    self.init(app: folder.app.description, folder: folder.name, folders: state.folders, problem: state.problem)
  }
}

extension Wire.Presence {
  /// Makes the word for a presence; nil if no desktop has reported.
  fileprivate init?(_ presence: Presence) {
    switch presence {
    case .unknown: return nil
    case .ended: self = .ended
    case .running: self = .running
    case .front: self = .front
    }
  }
}
