import RefreshAPI
import RefreshEngine

// Values of the engine that the socket shows with a text for people. Enums with equal cases are in Wire.twins.

extension Wire.Cause {
  /// The cause of a failure; nil for any other outcome.
  ///
  /// `detail` is ``TaskRecord/stopDetail``.
  init?(_ outcome: Outcome, detail: String? = nil) {
    guard case .failed(let cause) = outcome else { return nil }
    let kind = Wire.CauseKind(cause)
    switch cause {
    case .exit(let code), .temporary(let code), .signal(let code):
      self.init(kind: kind, code: Int(code), text: cause.text)
    case .stopped(let reason):
      self.init(kind: kind, stopReason: Wire.StopReason(reason), text: cause.text(detail: detail))
    default: self.init(kind: kind, text: cause.text)
    }
  }
}

extension Cause {
  /// The cause for people, to follow "failed: ".
  var text: String {
    switch self {
    case .exit(let code): "exit code \(code)"
    case .temporary(let code): "exit code \(code), worth a retry"
    case .signal(let signal): "ended by \(signalName(signal))"
    case .spawn(let reason): reason
    case .reported(let message): message.isEmpty ? "the task said so" : message
    case .notRun(let name): "not run: \(name) failed"
    case .stopped(.deadline): "still running at its deadline"
    case .stopped(.constraintLost): "stopped: a constraint was no longer met"
    case .stopped(.logout): "stopped: the app was logged out"
    case .stopped(.user): "stopped: the user disabled the app"
    case .stopped(.unconfigured): "stopped: the app was taken out of the configuration"
    case .stopped(.shutdown): "stopped: refreshd was stopping"
    case .stopped(.sleep): "stopped: the machine was going to sleep"
    case .stopped(.notTaken): "stopped: the app's process left before it took the refresh"
    case .daemonCrashed: "refreshd went down in the middle of it"
    case .lostClient: "the app's process went away in the middle of it"
    case .outOfMemory: "killed because memory ran out"
    }
  }

  /// The cause, by what stopped the task, if that is known (``TaskRecord/stopDetail``).
  func text(detail: String?) -> String {
    switch (self, detail) {
    case (.stopped(.constraintLost), let lost?): "stopped: \(lost)"
    case (.stopped(.deadline), let expired?): expired
    default: text
    }
  }
}

extension Hold {
  /// The hold and its remedy for people, at an offset of wall time to boot time.
  ///
  /// `user` is the user whose next session logs the app in; nil if none does.
  func wire(of app: String, wallOffset: Duration, awaitsSessionOf user: String? = nil) -> Wire.Hold {
    let remedy =
      switch self {
      case .notConfigured: "write a file for it in apps.d, then refreshctl reload"
      case .misconfigured(let reason): reason
      case .loggedOut: (user.map { "a session of \($0), or " } ?? "") + "refreshctl login \(app)"
      case .disabled: "refreshctl enable \(app)"
      case .paused(.untilAC): "mains power, or refreshctl resume"
      case .paused: "refreshctl resume"
      case .never: "refreshctl set \(app) --background 1h, or refreshctl run \(app)"
      case .quiet: "the end of its quiet hours, or refreshctl run \(app)"
      case .constraint(let constraint, _): constraint.remedy(of: app)
      case .powerSaver: "another power profile"
      case .settling: "the machine has just started or woken up; it goes on in a moment"
      case .wakeLimit: "the next free wake: ended transfers may wake an app 20 times at once, and 30 times an hour"
      case .unsteady: "the end of what held it must last for a while first"
      case .suspending: "the machine is going to sleep; it goes on when it wakes up"
      case .noPerformer(.some):
        "its process, which was attached before refreshd's start; soon its command runs without it"
      case .noPerformer: "a process of the app that attaches; or write a [[task]] in its file, then refreshctl reload"
      case .concurrency: "a place among the refreshes that run; max_concurrent and max_concurrent_per_user bound them"
      case .stopping: "refreshd goes on after its next start"
      }
    return Wire.Hold(
      name: name.rawValue, remedy: remedy, untilMicroseconds: until?.wallMicroseconds(at: wallOffset))
  }

  /// When the hold ends by itself; nil if unknown.
  private var until: Instant? {
    switch self {
    case .paused(.until(let until)), .quiet(let until), .settling(let until), .unsteady(let until),
      .wakeLimit(let until):
      until
    case .constraint(_, let relaxedAt): relaxedAt
    case .noPerformer(let until): until
    default: nil
    }
  }
}

// The conditions of the machine and the constraints on them, in a few words for people.

extension Wire.Conditions {
  init(_ conditions: Conditions, for viewer: Viewer) {
    self.init(
      network: viewer.seen(Wire.Condition(conditions.network)), power: viewer.seen(Wire.Condition(conditions.power)),
      powerSaver: viewer.seen(Wire.Condition(powerSaver: conditions.powerSaver)),
      idle: viewer.seen(Wire.Condition(idle: conditions.idle)),
      pressure: viewer.seen(Wire.Condition(pressure: conditions.pressure)))
  }

  /// The name and the value of an observed condition.
  static func field(of observation: Observation) -> (name: String, value: Wire.Condition) {
    switch observation {
    case .network(let reading): ("network", Wire.Condition(reading))
    case .power(let reading): ("power", Wire.Condition(reading))
    case .powerSaver(let reading): ("power_saver", Wire.Condition(powerSaver: reading))
    case .idle(let reading): ("idle", Wire.Condition(idle: reading))
    case .pressure(let reading): ("pressure", Wire.Condition(pressure: reading))
    case .fact(let fact, let reading): (fact.constraint.rawValue, Wire.Condition(reading))
    }
  }
}

extension Wire.Condition {
  /// The condition for a constraint of an app.
  init(_ term: Explanation.Term, of constraints: Constraints, in conditions: Conditions) {
    let machine = Wire.Conditions(conditions, for: .person)
    switch term.constraint {
    case .network: self = machine.network
    case .power: self = machine.power
    case .idle: self = machine.idle
    case .calm: self = machine.pressure
    case .mounted, .present: self.init(conditions.facts[of: term.constraint, in: constraints] ?? Reading())
    case .reachable, .when: self.init(value: term.question?.answer?.text, source: "", problem: nil)
    }
  }

  /// A fact that an app's file names, or the answer of a command.
  init(_ reading: Reading<FactState>) { self.init(reading) { $0.text } }

  fileprivate init(_ reading: Reading<Network>) { self.init(reading) { $0.text } }
  fileprivate init(_ reading: Reading<Power>) { self.init(reading) { $0.text } }
  fileprivate init(powerSaver reading: Reading<Bool>) { self.init(reading) { $0 ? "on" : "off" } }
  fileprivate init(idle reading: Reading<Bool>) { self.init(reading, Conditions.text(isIdle:)) }
  fileprivate init(pressure reading: Reading<Bool>) { self.init(reading, Conditions.text(isUnderPressure:)) }

  private init<Value>(_ reading: Reading<Value>, _ text: (Value) -> String) {
    self.init(value: reading.value.map(text), source: reading.source, problem: reading.problem)
  }
}

extension Constraint {
  /// The remedy for an unmet constraint, for people.
  func remedy(of app: String) -> String {
    switch self {
    case .network: "a network that it asks for; refreshctl why \(app) says which"
    case .power: "the power supply that it asks for; refreshctl why \(app) says which"
    case .idle: "an idle user"
    case .calm: "less pressure on the machine"
    case .mounted: "the file system that it asks for; refreshctl why \(app) says which"
    case .present: "the device that it asks for; refreshctl why \(app) says which"
    case .reachable: "the server that it asks for; refreshctl why \(app) says which"
    case .when: "the command that it asks; refreshctl why \(app) says which"
    }
  }
}

extension [NamedFact: Reading<FactState>] {
  /// The fact that an app's file names for a constraint.
  fileprivate subscript(of constraint: Constraint, in constraints: Constraints) -> Reading<FactState>? {
    constraints.name(of: constraint).flatMap { self[NamedFact(constraint, $0)] }
  }
}
