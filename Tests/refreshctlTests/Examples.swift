@preconcurrency import Glibc
import RefreshAPI

@testable import refreshctl

/// Sat 21 Nov 2026 12:00:00 UTC, microseconds of the wall clock.
let noon: Int64 = 1_795_262_400_000_000

/// Microseconds of so many days, hours, minutes and seconds.
func span(d days: Int64 = 0, h hours: Int64 = 0, m minutes: Int64 = 0, s seconds: Int64 = 0) -> Int64 {
  (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1_000_000
}

/// A screen in UTC at noon.
func screen(width: Int? = nil, hasColours: Bool = false) -> Screen {
  Screen(width: width, hasColours: hasColours, now: noon) { microseconds in
    var time = time_t(microseconds / 1_000_000)
    var broken = tm()
    gmtime_r(&time, &broken)
    return CalendarTime(broken)
  }
}

func interval(_ text: String, _ microseconds: Int64?, insteadOf configured: String? = nil) -> Wire.Interval {
  Wire.Interval(
    inForce: text, inForceMicroseconds: microseconds, configured: configured ?? text, overridden: configured != nil)
}

let twoTasks = [
  Wire.Task(name: "pull", command: ["/usr/bin/mbsync", "inbox"], after: []),
  Wire.Task(name: "push", command: ["/usr/bin/todo-sync", "--to", "my list"], after: []),
]

func details(
  phase: Wire.Phase = .background, verdict: Wire.Verdict = .notDue, due: Int64? = nil, trigger: Wire.Trigger? = nil,
  holds: [Wire.Hold] = [], running: Wire.Running? = nil, fresh: Int64? = nil,
  background: Wire.Interval = interval("24h", span(h: 24)), tasks: [Wire.Task] = twoTasks, attachedPID: Int? = nil,
  last: Wire.Refresh? = nil, next: Wire.Next? = nil
) -> Wire.AppDetails {
  Wire.AppDetails(
    id: "org.example.todo", name: "Todo", owner: "anna", phase: phase, verdict: verdict, dueMicroseconds: due,
    dueTrigger: trigger, holds: holds, running: running, freshMicroseconds: fresh,
    foregroundInterval: interval("5min", span(m: 5)), backgroundInterval: background, onForeground: .stale,
    deadlineMicroseconds: span(s: 30), graceMicroseconds: span(s: 5),
    tasks: tasks, attachedPID: attachedPID,
    file: "/etc/refreshd/apps.d/org.example.todo.toml", last: last, next: next)
}

func refresh(
  at start: Int64, _ outcome: Wire.Outcome = .newData, cause: Wire.Cause? = nil, tasks: [Wire.RefreshTask] = [],
  extraCompletions: Int = 0
) -> Wire.Refresh {
  Wire.Refresh(
    id: "12-345", app: "org.example.todo", trigger: .interval, startedMicroseconds: start,
    durationMicroseconds: 1_800_000, outcome: outcome, cause: cause, cpuMicroseconds: 300_000,
    extraCompletions: extraCompletions, tasks: tasks)
}

func task(_ name: String, _ outcome: Wire.Outcome, cause: Wire.Cause? = nil, says message: String = "")
  -> Wire.RefreshTask
{
  Wire.RefreshTask(
    name: name, outcome: outcome, cause: cause, durationMicroseconds: 1_200_000, cpuMicroseconds: 150_000,
    message: message)
}

func explanation(
  trigger: Wire.Trigger? = nil, window: Wire.Window? = nil, holds: [String] = [], isRunning: Bool = false,
  terms: [Wire.Term] = [], isProcessing: Bool = false, isDisabled: Bool = false, pause: Wire.PauseState? = nil,
  oneShot: Wire.OneShot? = nil, waiting: Int64? = nil, failures: Int = 0, problem: String? = nil,
  powerProblem: String? = nil, past: [Wire.Past] = [], freshUntil: Int64? = nil, pushes: [Wire.PushWaiting]? = nil,
  dropped: [Wire.DroppedPush]? = nil, limit: Wire.PushLimit? = nil, planning: Wire.Planning? = nil,
  next: Wire.Next? = nil, awaitsSessionOf: String? = nil, skippedUntil: Int64? = nil, restsUntil: Int64? = nil,
  skipsAll: Bool? = nil, phase: Wire.Phase = .background, eastMinutes: Int? = nil
) -> Wire.Explanation {
  let unknown = Wire.Condition(source: "")
  let background = interval(holds == ["never"] ? "never" : "24h", span(h: 24))
  return Wire.Explanation(
    id: "org.example.todo", name: "Todo", phase: phase, verdict: holds.isEmpty ? .notDue : .held,
    trigger: trigger, window: window, holds: holds.map { Wire.Hold(name: $0, remedy: "wait") },
    next: next, awaitsSessionOf: awaitsSessionOf,
    running: isRunning ? Wire.Running(id: "12-346", trigger: .interval, startedMicroseconds: noon) : nil,
    interval: background, freshMicroseconds: noon - span(h: 6), floorMicroseconds: noon - span(m: 20),
    staleMicroseconds: noon + span(h: 18), isProcessing: isProcessing,
    terms: terms.map { $0.with(problem: ["network": problem, "power": powerProblem][$0.constraint] ?? nil) },
    quiet: Wire.QuietHours(fromMinutes: 1320, toMinutes: 420, eastMinutes: eastMinutes), isDisabled: isDisabled,
    pause: pause,
    failures: failures, strikes: 0, restsUntilMicroseconds: restsUntil, skippedUntilMicroseconds: skippedUntil,
    freshUntilMicroseconds: freshUntil, oneShot: oneShot,
    waiting: waiting.map { Wire.Waiting(sinceMicroseconds: $0, holds: holds) }, planning: planning,
    conditions: Wire.Conditions(
      network: Wire.Condition(value: "wlan0, metered", source: "NetworkManager", problem: problem),
      power: Wire.Condition(source: "", problem: powerProblem), powerSaver: unknown, idle: unknown, pressure: unknown),
    past: past, pushes: pushes, pushesDropped: dropped, pushLimit: limit, skipsAll: skipsAll)
}

/// A next refresh that is due in 53 min, held, and perhaps started later.
func nextHeld(_ holds: [(String, Int64?)], start: Int64? = nil, due: Int64 = noon + span(m: 53)) -> Wire.Next {
  Wire.Next(
    trigger: .interval, due: Wire.Window(earliestMicroseconds: due, latestMicroseconds: due + span(m: 3)),
    holds: holds.map { Wire.Hold(name: $0.0, remedy: "wait", untilMicroseconds: $0.1) },
    start: start.map { Wire.Window(earliestMicroseconds: $0, latestMicroseconds: $0) })
}

extension Wire.Term {
  /// The term with the reason why a better source of its condition did not answer.
  fileprivate func with(problem: String?) -> Wire.Term {
    Wire.Term(
      constraint: constraint, needs: needs, waitsFor: waitsFor, has: has, source: source, problem: problem,
      isMet: isMet, isUnknown: isUnknown, relaxedMicroseconds: relaxedMicroseconds, isRelaxed: isRelaxed)
  }
}
