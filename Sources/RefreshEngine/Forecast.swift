/// A forecast of starts: the engine itself, on virtual time.
///
/// A copy of the engine goes from wake to wake; the given engine stays as it is. The forecast assumes that each refresh
/// ends at once with no data, and that commands of conditions answer as they did last. It also assumes that phases,
/// conditions and the user's switches stay as they are, and that only time asks for a refresh. Each wake comes at its first
/// instant; a real wake may come later in its window.
public struct Forecast: Sendable {
  /// A refresh that would start.
  public struct Start: Hashable, Sendable {
    /// The app.
    public var app: AppID
    /// Why it would start.
    public var trigger: Trigger
  }

  /// A wake that would start refreshes.
  public struct Wake: Hashable, Sendable {
    /// The window of the wake, boot clock.
    public var window: Window
    /// The refreshes that would start, in this order; at least one.
    public var starts: [Start]
  }

  /// An app that would not start, and the verdict on it at the end.
  public struct Rest: Hashable, Sendable {
    /// The app.
    public var app: AppID
    /// The reason: it is not due yet, or held.
    public var verdict: Verdict
  }

  /// The holds of a guard from a moment on.
  public struct GuardChange: Hashable, Sendable {
    /// The beginning, boot clock.
    public var from: Instant
    /// The holds; empty while the unit may run.
    public var holds: [Hold]
  }

  /// The most starts that a forecast lists: an interval of seconds gives more than a person reads.
  public static let mostStarts = 5_000
  /// The most wakes and starts to compute in all; a forecast is cut there.
  public static let mostWorkedOut = 20_000
  /// The most wakes and starts to compute for apps that nobody asked about; then these are left out.
  ///
  /// They only share wakes with the others, and a fleet of thousands would take seconds for a forecast of one app.
  public static let mostOfOthers = 2_000
  /// The most starts, with a few more, that one step computes.
  private static let mostInStep = 50

  /// The end of the forecast, boot clock: the end of the span, or where a bound has cut it.
  public private(set) var end: Instant
  /// Whether a bound has cut the forecast.
  public private(set) var isCut = false
  /// When the other apps are left out, boot clock, because they start too often; nil if none is left out.
  public private(set) var aloneFrom: Instant?
  /// The pushes of each app that still wait at the end, by id of the app.
  public private(set) var pushes: [(app: AppID, pushes: [WaitingPush])] = []
  /// The transfers that are held at the end, with their holds, by id.
  public private(set) var transfers: [(policy: TransferPolicy, id: TransferID, verdict: TransferVerdict)] = []
  /// Each guard, by id of the app: its present holds, and each change of them, in order of time.
  public private(set) var guards: [(app: AppID, changes: [GuardChange])] = []
  /// The wakes that start something, in order of time.
  public private(set) var wakes: [Wake] = []
  /// The apps that do not start before the end, in order of id.
  public private(set) var rest: [Rest] = []

  /// The copy of the engine, as far as the forecast has come.
  public private(set) var engine: Engine
  private let apps: Set<AppID>?
  /// The wake that is under way, or comes next.
  private var window: Window
  /// Whether a step has left starts of this wake to the next step.
  private var isInWake = false
  private var (listed, workedOut, ofOthers) = (0, 0, 0)
  private var started: Set<AppID> = []

  /// Computes what would start.
  ///
  /// - Parameters:
  ///   - engine: the engine as it is.
  ///   - apps: the apps to list; all if nil.
  ///   - span: how far to look.
  ///   - now: the boot clock's time, not before the time of the engine's last event.
  public init(of engine: Engine, apps: Set<AppID>? = nil, for span: Duration, at now: Instant) {
    self.init(beginningWith: engine, apps: apps, for: span, at: now)
    while goOn() {}
  }

  /// Begins a forecast that ``goOn()`` computes step by step, because one of many apps takes seconds.
  public init(beginningWith engine: Engine, apps: Set<AppID>? = nil, for span: Duration, at now: Instant) {
    (self.engine, self.apps) = (engine, apps)
    end = now + span
    window = Window(earliest: now, latest: now)
  }

  /// Computes the next wake, or some starts of it; false when the forecast is complete.
  public mutating func goOn() -> Bool {
    if workedOut == 0 {
      guards = engine.configuredApps.filter { apps?.contains($0) != false && engine.guardState(of: $0) != nil }
        .map { ($0, []) }
    }
    guard step() else {
      addRest()
      return false
    }
    return true
  }

  private mutating func step() -> Bool {
    guard window.earliest <= end else { return false }
    let starts = engine.starts(at: window.earliest, atMost: Self.mostInStep, goingOn: isInWake)
    let asked = apps.map { apps in starts.filter { apps.contains($0.app) } } ?? starts
    addGuards(at: window.earliest)
    started.formUnion(asked.map(\.app))
    list(asked.prefix(Self.mostStarts - listed))
    listed += asked.count
    workedOut += starts.count + 1
    ofOthers += starts.count - asked.count + (asked.isEmpty ? 1 : 0)
    if listed >= Self.mostStarts || workedOut >= Self.mostWorkedOut {
      (end, isCut) = (window.earliest, true)
      return false
    }
    if aloneFrom == nil, ofOthers >= Self.mostOfOthers, let apps, engine.keep(apps) { aloneFrom = window.earliest }
    isInWake = starts.count >= Self.mostInStep
    if isInWake { return true }
    guard let next = engine.nextWake else { return false }
    let earliest = max(next.earliest, window.earliest)
    window = Window(earliest: earliest, latest: max(next.latest, earliest))
    return true
  }

  private mutating func list(_ starts: some Collection<Start>) {
    guard !starts.isEmpty else { return }
    if isInWake, let last = wakes.indices.last, wakes[last].window == window {
      wakes[last].starts += starts
    } else {
      wakes.append(Wake(window: window, starts: Array(starts)))
    }
  }

  private mutating func addRest() {
    for id in engine.configuredApps
    where !started.contains(id) && apps?.contains(id) != false && engine.guardState(of: id) == nil {
      rest.append(Rest(app: id, verdict: engine.verdict(on: id, at: end)))
    }
    for id in engine.configuredApps where apps?.contains(id) != false {
      let waiting = engine.waitingPushes(of: id, at: end)
      if !waiting.isEmpty { pushes.append((id, waiting)) }
    }
    for id in engine.transferIDs {
      guard let policy = engine.transferState(of: id)?.policy, apps?.contains(policy.app) != false else { continue }
      if let verdict = engine.transferVerdict(on: id, at: end), case .held = verdict {
        transfers.append((policy, id, verdict))
      }
    }
  }

  private mutating func addGuards(at now: Instant) {
    for index in guards.indices {
      let holds = engine.verdict(on: guards[index].app, at: now).holds
      // The end of a hold may move while the hold is the same.
      guard guards[index].changes.last?.holds.elementsEqual(holds, by: { $0.name == $1.name }) != true else { continue }
      guards[index].changes.append(GuardChange(from: now, holds: holds))
    }
  }
}

extension Engine {
  /// Leaves out all other apps, as if no file named them; false if there are no others.
  fileprivate mutating func keep(_ kept: Set<AppID>) -> Bool {
    let others = configuredApps.filter { !kept.contains($0) }
    for id in others {
      guard let index = apps.index(of: id) else { continue }
      apps[index].configure(nil)
      schedule.leaveOut(index)
    }
    updateNextWake()
    return !others.isEmpty
  }

  /// Lets time pass, and ends each running refresh at once; starts `count` refreshes, or a few more.
  ///
  /// `isGoingOn` says whether an earlier call has started so many at the same instant that some are left.
  mutating func starts(at now: Instant, atMost count: Int, goingOn isGoingOn: Bool = false) -> [Forecast.Start] {
    var starts: [Forecast.Start] = []
    var events = isGoingOn ? answers : [.wokeUp]
    while !events.isEmpty, starts.count < count {
      for event in events {
        for effect in handle(event, at: now).effects {
          switch effect {
          case .start(_, let app, let trigger, _), .perform(_, let app, let trigger, _):
            starts.append(Forecast.Start(app: app, trigger: trigger))
          default: break
          }
        }
      }
      events = answers
    }
    return starts
  }

  /// The ends of the refreshes that run and the answers to open questions.
  private var answers: [Event] {
    judge.running.refreshes.flatMap { ends(of: $0) } + assumedAnswers
  }

  /// The ends of all tasks of a refresh, each with no data.
  private func ends(of refresh: RefreshID) -> [Event] {
    let tasks = refreshing(refresh)?.tasks.policies ?? []
    return tasks.enumerated().map { index, task in
      .taskEnded(refresh, task: index, TaskEnd(exit: .exited(task.noDataExit)))
    }
  }
}
