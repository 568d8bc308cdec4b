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
