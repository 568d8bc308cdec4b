import RefreshEngine

/// The keys that an app's file and `[defaults]` have in common, as far as they are written.
struct Settings {
  var foregroundInterval: Interval?
  var backgroundInterval: Interval?
  var onForeground: OnForeground?
  var deadline: Duration?
  var grace: Duration?
  var group: UInt32?
  var constraints = ConstraintSettings()
  /// The quiet hours; the inner nil is `never`, which takes those of the defaults away.
  var quiet: QuietHours??
  var maxStale: Duration?
  var meteredWhenStale: Bool?
  var adaptive: Bool?
  var staleness = StalenessSettings()
  var push = PushSettings()
  var surroundings = Surroundings()
  var sandbox = SandboxSettings()

  init() {}

  /// What stands in for defaults that cannot be read, so that no app is blamed for them.
  static let unreadable = {
    var settings = Settings()
    settings.backgroundInterval = .never
    return settings
  }()

  /// Takes the keys out of a section.
  init(from section: inout Section, in reading: inout Reading) {
    foregroundInterval = section.takeText("foreground_interval", example: "5min") { (text) throws(Unreadable) in
      try Interval(text, floor: reading.limits.foregroundFloor)
    }
    backgroundInterval = section.takeText("background_interval", example: "24h") { (text) throws(Unreadable) in
      try Interval(text, floor: reading.limits.backgroundFloor)
    }
    if backgroundInterval == nil, section.isWritten("background_interval") {
      backgroundInterval = Self.unreadable.backgroundInterval
    }
    onForeground = section.takeWord("on_foreground", example: .stale)
    deadline = section.takeDuration("deadline", within: .seconds(1)...reading.limits.deadlineCap, example: "30s")
    grace = section.takeDuration("grace", within: .zero ... .minutes(1), example: "5s")
    group = section.takeText("group", example: "mail") { (text) throws(Unreadable) in try reading.group(text) }
    constraints = ConstraintSettings(from: &section)
    quiet = section.takeText("quiet", example: "22:00-06:00") { (text) throws(Unreadable) in
      text == "never" ? nil : try QuietHours(text)
    }
    maxStale = section.takeDuration("max_stale", within: .minutes(1) ... .longest, example: "3d")
    if maxStale == nil, section.isWritten("max_stale") { maxStale = .longest }
    meteredWhenStale = section.takeBoolean("metered_when_stale")
    adaptive = section.takeBoolean("adaptive")
    staleness = StalenessSettings(from: &section, &reading.programs)
    push = PushSettings(from: &section)
    surroundings = Surroundings(from: &section)
    sandbox = SandboxSettings(from: &section, in: reading)
  }

  /// The same settings, with those of `defaults` where nothing is written.
  func completed(by defaults: Settings) -> Settings {
    var settings = self
    settings.foregroundInterval = foregroundInterval ?? defaults.foregroundInterval
    settings.backgroundInterval = backgroundInterval ?? defaults.backgroundInterval
    settings.onForeground = onForeground ?? defaults.onForeground
    settings.deadline = deadline ?? defaults.deadline
    settings.grace = grace ?? defaults.grace
    settings.group = group ?? defaults.group
    settings.constraints = constraints.completed(by: defaults.constraints)
    settings.quiet = quiet ?? defaults.quiet
    settings.maxStale = maxStale ?? defaults.maxStale
    settings.meteredWhenStale = meteredWhenStale ?? defaults.meteredWhenStale
    settings.adaptive = adaptive ?? defaults.adaptive
    settings.staleness = staleness.completed(by: defaults.staleness)
    settings.push = push.completed(by: defaults.push)
    settings.surroundings = surroundings.completed(by: defaults.surroundings)
    settings.sandbox = sandbox.completed(by: defaults.sandbox)
    return settings
  }

  /// The policy of these settings, with the engine's defaults where nothing is written.
  ///
  /// A default that the administrator's limits leave no room for gives way to them: an interval below the floor to
  /// `minimum`, a deadline above the cap to the cap. What is written has been held against the limits already.
  func policy(tasks: [TaskPolicy], limits: Limits, _ sharing: inout Sharing) -> Policy {
    var policy = Policy(tasks: tasks)
    policy.foregroundInterval = foregroundInterval ?? policy.foregroundInterval.fitting(limits.foregroundFloor)
    policy.backgroundInterval = backgroundInterval ?? policy.backgroundInterval.fitting(limits.backgroundFloor)
    policy.onForeground = onForeground ?? policy.onForeground
    policy.deadline = deadline ?? min(policy.deadline, limits.deadlineCap)
    policy.grace = grace ?? policy.grace
    policy.constraints = constraints.constraints(&sharing)
    policy.quiet = quiet ?? policy.quiet
    policy.maxStale = maxStale ?? policy.maxStale
    policy.meteredWhenStale = meteredWhenStale ?? policy.meteredWhenStale
    policy.isAdaptive = adaptive ?? policy.isAdaptive
    policy.staleAfter = staleness.after ?? policy.staleAfter
    policy.pushLimit = push.limit
    return policy
  }

  /// Refuses a `max_stale` or `stale_after` below the background interval in force, if the section writes one of them.
  ///
  /// The data would be stale whenever it is due, and its constraints relaxed although nothing was late.
  func refuseEarlyStaleness(in section: inout Section, limits: Limits) {
    let interval = backgroundInterval ?? Policy(tasks: []).backgroundInterval.fitting(limits.backgroundFloor)
    staleness.refuseEarlyObjective(in: &section, spacing: interval.spacing(floor: limits.backgroundFloor))
    guard let key = ["max_stale", "background_interval"].first(where: section.isWritten), let maxStale,
      let spacing = interval.spacing(floor: limits.backgroundFloor), maxStale < spacing
    else { return }
    section.refuse(
      key,
      Unreadable(
        message: "cannot take max_stale = \"\(maxStale.inSystemdForm)\" with a refresh every \(spacing.inSystemdForm)",
        remedy: "write a longer max_stale or a shorter background_interval"))
  }
}

extension Interval {
  /// The interval, or `minimum` if it is below the floor.
  fileprivate func fitting(_ floor: Duration) -> Interval {
    if case .every(let duration) = self, duration < floor { .minimum } else { self }
  }
}

/// Where a command runs and with what environment: keys of a task, an app and `[defaults]`.
struct Surroundings {
  var directory: String?
  var environment: [String: String] = [:]

  init() {}

  /// Takes the keys out of a section.
  init(from section: inout Section) {
    directory = section.takeText("directory", example: "/srv/mirror") { (text) throws(Unreadable) in
      guard text.isPath else {
        throw Unreadable(
          message: "cannot use \(quoted(text)) as a directory: it is not a whole path",
          remedy: "begin with a slash, or with ~/ for the owner's home")
      }
      return text
    }
    guard var table = section.takeTable("environment", example: #"environment = { LANG = "C.UTF-8" }"#) else { return }
    for name in table.keys {
      environment[name] = table.takeText(name, example: "C.UTF-8") { (value) throws(Unreadable) in
        if let reason = Self.refusal(name: name, value: value) { throw reason }
        return value
      }
    }
    section.adopt(table)
  }

  /// The same surroundings, with what only `outer` says beside it.
  func completed(by outer: Surroundings) -> Surroundings {
    var surroundings = self
    surroundings.directory = directory ?? outer.directory
    surroundings.environment.merge(outer.environment) { mine, _ in mine }
    return surroundings
  }

  /// The environment as `environ(7)` has it, in the order of the names.
  var environmentList: [String] { environment.map { "\($0.key)=\($0.value)" }.sorted() }

  private static func refusal(name: String, value: String) -> Unreadable? {
    let isName =
      name.utf8.first.map { !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? false
      && name.utf8.allSatisfy { $0 == UInt8(ascii: "_") || $0.isLetterOrDigit }
    if !isName {
      return Unreadable(
        message: "cannot use \(quoted(name)) as the name of a variable",
        remedy: "write letters, digits and _, and no digit first")
    }
    if name.hasPrefix("REFRESH_") {
      return Unreadable(
        message: "cannot set \(name): refreshd sets the variables of that prefix", remedy: "choose another name")
    }
    return value.utf8.contains(0)
      ? Unreadable(message: "cannot put a NUL into a variable", remedy: "remove the \\u0000") : nil
  }
}

extension StringProtocol {
  /// Whether it can be the path of a file wherever the daemon's working directory is.
  var isPath: Bool { (hasPrefix("/") || hasPrefix("~/")) && !utf8.contains(0) }
}

extension UInt8 {
  fileprivate var isLetterOrDigit: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }
}
