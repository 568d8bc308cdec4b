import JSON
import RefreshConfig

/// An app that replaces a timer, with a remark on each setting of the timer.
struct Adoption: JSONWritable {
  /// A setting of the timer or its service, and its equivalent.
  struct Remark: JSONWritable, Hashable {
    /// The setting as systemd has it, such as `OnCalendar=daily`.
    let setting: String
    /// The effect in refreshd.
    let meaning: String
    /// Whether the app lacks the effect of the setting.
    var isLost = false

    func write(to json: inout JSONWriter) {
      json.beginObject()
      json.member("lost", isLost)
      json.member("meaning", meaning)
      json.member("setting", setting)
      json.endObject()
    }
  }

  let timer: TimerSettings
  /// The id of the app.
  let app: String
  /// The path of the app's file.
  let path: String
  private(set) var remarks: [Remark] = []
  private var keys: [(name: String, value: String)] = []
  /// Whether the file is in force and the timer off.
  var isDone = false

  /// The bounds that the configuration of the machine sets.
  struct AdoptionBounds {
    let floor: Duration
    let cap: Duration
  }

  /// Makes the app; throws a sentence if the timer has no equivalent.
  ///
  /// `conditions` has the `Condition…=` and `Assert…=` lines of the timer and of its service. `rhythm` says how often
  /// the timer's calendar elapses; nil without a calendar.
  init(
    _ timer: TimerSettings, _ service: TimedService, conditions: (timer: [String], service: [String]),
    _ rhythm: Rhythm?, _ bounds: AdoptionBounds, in folder: String
  ) throws(Obstacle) {
    self.timer = timer
    (app, path) = (Self.id(of: timer.name), "\(folder)/\(Self.id(of: timer.name)).toml")
    guard timer.unit.hasSuffix(".service") else {
      throw Obstacle(reason: "it starts \(timer.unit), which is not a service")
    }
    guard service.isThere else { throw Obstacle(reason: "its \(timer.unit) does not exist") }
    guard !service.remainsAfterExit else {
      throw Obstacle(reason: "its \(timer.unit) stays active after its end (RemainAfterExit=yes)")
    }
    try add(rhythm, bounds)
    addConditions(conditions)
    if service.wantsNetwork {
      set(
        "network", "any", for: "After=network-online.target",
        "waits for a network; when it goes, a run is stopped, which systemd does not do")
    }
    addDeadline(service, bounds)
    addRest()
  }

  struct Obstacle: Error { let reason: String }

  /// The id of the app: `timer.apt-daily`.
  static func id(of timer: String) -> String {
    let name = timer.hasSuffix(".timer") ? timer.dropLast(".timer".count) : timer[...]
    let part = String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") ? $0 : "_" })
    // A part of an id must not begin with a digit.
    return "timer." + (part.first?.isNumber == true ? "_" : "") + part
  }

  // MARK: Settings

  private mutating func set(_ key: String, _ value: String, for setting: String, _ meaning: String) {
    if !keys.contains(where: { $0.name == key }) { keys.append((key, "\"\(value)\"")) }
    remarks.append(Remark(setting: setting, meaning: "\(key) = \"\(value)\": \(meaning)"))
  }

  private mutating func lose(_ setting: String, _ meaning: String) {
    remarks.append(Remark(setting: setting, meaning: meaning, isLost: true))
  }

  private mutating func keep(_ setting: String, _ meaning: String) {
    remarks.append(Remark(setting: setting, meaning: meaning))
  }

  private mutating func add(_ rhythm: Rhythm?, _ bounds: AdoptionBounds) throws(Obstacle) {
    let repeating = timer.spans.filter { $0.name == "OnUnitActiveSec" || $0.name == "OnUnitInactiveSec" }
    let spans = repeating.compactMap(\.duration) + (rhythm.map { [.seconds($0.interval)] } ?? [])
    guard let shortest = spans.min(), shortest > .zero else {
      throw Obstacle(reason: "it starts \(timer.unit) once, and not repeatedly")
    }
    let interval = max(shortest, bounds.floor).inSystemdForm
    for expression in timer.calendar {
      set("background_interval", interval, for: "OnCalendar=\(expression)", "the shortest time between two starts")
    }
    for span in timer.spans {
      let setting = "\(span.name)=\(span.text)"
      switch span.name {
      case "OnUnitActiveSec": set("background_interval", interval, for: setting, "counted from its start")
      case "OnUnitInactiveSec":
        set("background_interval", interval, for: setting, "counted from its start, and not from its end")
      default: keep(setting, "nothing to do: what is due starts soon after the boot")
      }
    }
    if shortest < bounds.floor {
      lose("every \(shortest.inSystemdForm)", "the machine's floor is \(bounds.floor.inSystemdForm) (background_floor)")
    }
    guard let rhythm else { return }
    let setting = timer.calendar.count == 1 ? "OnCalendar=\(timer.calendar[0])" : "OnCalendar="
    if let quiet = rhythm.quiet {
      set("quiet", "\(Self.clock(quiet.from))-\(Self.clock(quiet.to))", for: setting, "never starts in these hours")
    }
    if rhythm.hasWeekdays { lose(setting, "refreshd has no days of the week: it starts on any day") }
    if rhythm.quiet == nil, rhythm.interval >= 12 * 3600 {
      lose(
        setting, "the time of day is not kept: it starts when it is due and nothing holds it; `quiet` keeps hours free")
    }
    if rhythm.isIrregular, rhythm.quiet == nil, !rhythm.hasWeekdays {
      lose(setting, "its times are not evenly spaced: the shortest distance counts")
    }
  }

  private static func clock(_ minute: Int64) -> String {
    let digits = { (number: Int64) in (number < 10 ? "0" : "") + "\(number)" }
    return digits(minute / 60) + ":" + digits(minute % 60)
  }

  private mutating func addConditions(_ conditions: (timer: [String], service: [String])) {
    for line in conditions.timer + conditions.service where Self.isMainsPower(line) {
      guard !keys.contains(where: { $0.name == "power" }) else { continue }
      set(
        "power", "ac", for: line,
        "waits for mains power instead of skipping a start; when the power goes, a run is stopped, which systemd does not do"
      )
    }
    for line in conditions.timer where !Self.isMainsPower(line) && !line.hasSuffix("=") {
      if conditions.service.contains(line) {
        keep(line, "nothing to do: \(timer.unit) has it as well")
      } else {
        lose(line, "a condition of the timer; put it in \(timer.unit) if it matters")
      }
    }
  }

  /// Whether the assignment asks for mains power, in any spelling of a boolean (systemd.syntax(7)).
  private static func isMainsPower(_ line: String) -> Bool {
    let parts = line.split(separator: "=")
    return parts.count == 2 && parts[0] == "ConditionACPower"
      && ["1", "yes", "y", "true", "t", "on"].contains(parts[1].lowercased())
  }

  private mutating func addDeadline(_ service: TimedService, _ bounds: AdoptionBounds) {
    // A deadline has at least 1 s.
    let deadline = max(.seconds(1), min(bounds.cap, service.timeLimit ?? bounds.cap))
    keys.append(("deadline", "\"\(deadline.inSystemdForm)\""))
    if let limit = service.timeLimit, limit <= bounds.cap {
      keep("\(service.timeLimitName)=\(limit.inSystemdForm)", "deadline = \"\(deadline.inSystemdForm)\"")
    } else {
      lose(
        "\(service.timeLimitName)=\(service.timeLimit?.inSystemdForm ?? "infinity")",
        "deadline = \"\(deadline.inSystemdForm)\": a longer run is stopped; raise deadline_cap in refreshd.toml for more"
      )
    }
  }

  private mutating func addRest() {
    if timer.isPersistent {
      keep("Persistent=yes", "nothing to do: what was missed is caught up")
    } else if !timer.calendar.isEmpty {
      keep("Persistent=no", "what was missed while the machine was off is caught up anyway")
    }
    if timer.hasRandomDelay { keep("RandomizedDelaySec=", "nothing to do: starts of apps are spread") }
    if timer.wakes { lose("WakeSystem=yes", "refreshd does not wake a sleeping machine") }
    if timer.followsClock { lose("OnClockChange=, OnTimezoneChange=", "a change of the clock starts nothing") }
  }

  // MARK: Text

  /// The text of the app's file.
  var file: String { ([title, mark.line] + rest).joined(separator: "\n") }

  /// The mark in the file.
  var mark: TimerMark { TimerMark(timer, over: ([title] + rest).joined(separator: "\n")) }

  private var title: String {
    "# Made by `refreshctl adopt \(timer.name)`; `refreshctl unadopt \(timer.name)` undoes it."
  }

  private var rest: [String] {
    var lines = ["#"]
    lines += remarks.map { "# \($0.setting): \($0.isLost ? "LOST: " : "")\($0.meaning)" }
    lines += ["", "id = \"\(app)\"", "name = \(Self.quoted(name))"]
    lines += keys.map { "\($0.name) = \($0.value)" }
    lines += [
      "", "[[task]]",
      "unit = \"\(timer.unit.replacing("\\", with: "\\\\"))\"", "",
    ]
    return lines
  }

  /// The name of the app: the description of the timer, or its name.
  private var name: String {
    let text = printable(timer.description.isEmpty ? timer.name : timer.description)
    return text.utf8.count <= 255 ? text : timer.name
  }

  private static func quoted(_ text: String) -> String {
    "\"\(text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
  }

  func write(to json: inout JSONWriter) {
    json.beginObject()
    json.member("adopted", isDone)
    json.member("app", app)
    json.member("file", path)
    json.member("remarks", remarks)
    json.member("text", file)
    json.member("timer", timer.name)
    json.member("unit", timer.unit)
    json.endObject()
  }
}

/// The rhythm of a timer, computed from a list of its times.
struct Rhythm: Hashable {
  /// The shortest time between two consecutive times, in seconds.
  let interval: Int64
  /// Whether the distances between times differ.
  let isIrregular: Bool
  /// The hours without a time although other hours often have one, in minutes of the day.
  let quiet: (from: Int64, to: Int64)?
  /// Whether the timer elapses only on some days of the week.
  let hasWeekdays: Bool

  private static let day: Int64 = 86400

  /// Reads the times of one or several expressions, each list in order, in seconds; nil if there are not two times.
  init?(_ lists: [[Int64]]) {
    // After the end of the shortest list, the other lists would count alone.
    let full = lists.filter { $0.count > 1 }
    guard let end = full.compactMap(\.last).min() else { return nil }
    let times = Set(lists.joined()).filter { $0 <= end }.sorted()
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }
    guard let least = gaps.min(), let most = gaps.max() else { return nil }
    interval = least
    isIrregular = most > least
    let weekdays = Set(times.map { $0 / Self.day % 7 })
    hasWeekdays = end - times[0] >= 14 * Self.day && weekdays.count < 7 && least < 28 * Self.day
    quiet = Self.quiet(times, interval: least)
  }

  private static func quiet(_ times: [Int64], interval: Int64) -> (from: Int64, to: Int64)? {
    guard interval < day / 2, let first = times.first, let last = times.last, last - first >= 2 * day else {
      return nil
    }
    let minutes = Set(times.map { $0 % day / 60 }).sorted()
    guard let earliest = minutes.first else { return nil }
    let holes = zip(minutes, minutes.dropFirst() + [earliest + 1440]).map { (from: $0, length: $1 - $0) }
    guard let hole = holes.max(by: { $0.length < $1.length }), hole.length * 60 >= 2 * interval else { return nil }
    return ((hole.from + interval / 60) % 1440, (hole.from + hole.length) % 1440)
  }

  static func == (left: Rhythm, right: Rhythm) -> Bool {
    (left.interval, left.isIrregular, left.hasWeekdays) == (right.interval, right.isIrregular, right.hasWeekdays)
      && left.quiet?.from == right.quiet?.from && left.quiet?.to == right.quiet?.to
  }

  func hash(into hasher: inout Hasher) { hasher.combine(interval) }
}
