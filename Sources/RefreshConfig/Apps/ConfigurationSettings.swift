import RefreshEngine

/// The settings of an app's file or of `[defaults]`.
struct ConfigurationSettings {
  /// The settings that the engine needs.
  var policy = Policy(tasks: [])
  /// The least time between two planned refreshes in the background; nil for the floor of the limits.
  var backgroundFloor: Duration?
  /// The group that commands run in; nil for the owner's own.
  var group: UInt32?
  /// The arguments of the command that runs when the data is stale; nil for none.
  var staleCommand: [String]?
  /// The arguments of the command that runs when a due refresh is held too long; nil for none.
  var heldCommand: [String]?
  /// The arguments of the command that runs when the app fails; nil for none.
  var failureCommand: [String]?
  /// The arguments of the command that runs after a refresh with new data; nil for none.
  var newDataCommand: [String]?
  /// The arguments of the command that runs after a refresh that did not fail; nil for none.
  var successCommand: [String]?
  /// The URL for reports of each refresh; nil for none.
  var ping: HTTPURL?
  /// The arguments of the command that must succeed before a refresh starts; nil for none.
  var whenCommand: [String]?
  /// How the app is found on desktops.
  var desktop = DesktopRules()
  /// The context of every command.
  private(set) var context = ExecContext()
  /// The sandbox of every command.
  var sandbox = AppSandbox()
  /// The names of the keys that were set here.
  private var keys: Set<String> = []

  /// The engine's defaults, fitted to the administrator's limits.
  ///
  /// A default interval below the floor becomes `minimum`, and a default deadline above the cap becomes the cap.
  init(limits: Limits) {
    policy.foregroundInterval = policy.foregroundInterval.fitted(to: limits.foregroundFloor)
    policy.deadline = min(policy.deadline, limits.deadlineCap)
  }

  /// The settings used when `[defaults]` cannot be read, so that no app is refused because of that.
  static let unreadable = {
    var settings = ConfigurationSettings(limits: .widest)
    settings.set("background_interval", \.policy.backgroundInterval, to: .never)
    return settings
  }()

  /// Reads the keys of a section.
  init(from section: inout Section, in load: LoadContext) {
    self.init(limits: load.limits)
    for key in AppKey.all where key.read(&section, load, &self) { keys.insert(key.name) }
    context = ExecContext(from: &section)
  }

  /// Whether the key was set here.
  func isSet(_ key: String) -> Bool { keys.contains(key) }

  /// Sets a key, so that `[defaults]` no longer change it.
  mutating func set<Value>(
    _ key: String, _ setting: WritableKeyPath<ConfigurationSettings, Value>, to value: Value
  ) {
    self[keyPath: setting] = value
    keys.insert(key)
  }

  /// Marks keys as set, so that `[defaults]` do not change them.
  mutating func inheritNone(of names: [String]) { keys.formUnion(names) }

  /// Fills in the settings that only `[defaults]` have.
  mutating func inherit(_ defaults: ConfigurationSettings) {
    for key in AppKey.all where defaults.isSet(key.name) && !isSet(key.name) { key.inherit(defaults, &self) }
    keys.formUnion(defaults.keys)
    context = context.completed(by: defaults.context)
  }
}

extension Interval {
  /// The interval, or `minimum` if it is below the floor.
  fileprivate func fitted(to floor: Duration) -> Interval {
    if case .every(let duration) = self, duration < floor { .minimum } else { self }
  }
}

extension ConfigurationSettings {
  /// Gives `background_interval = "auto"` its floor, and refuses a floor that has no effect.
  mutating func applyBackgroundFloor(in section: inout Section) {
    guard let floor = backgroundFloor else { return }
    if policy.backgroundInterval.isAuto {
      policy.backgroundInterval = .auto(floor: floor)
    } else if section.isWritten("background_floor") {
      section.refuse(
        "background_floor",
        "cannot use background_floor with background_interval = \"\(policy.backgroundInterval.text)\"",
        remedy: #"remove the key, or write background_interval = "auto""#)
    }
  }
}

/// Refuses keys about stale data that contradict other keys.
extension ConfigurationSettings {
  /// Refuses a `max_stale` or `stale_after` below the background interval in force, if the section has one of the keys.
  ///
  /// Otherwise the data would be stale every time a refresh is due, and its constraints would be relaxed too early.
  func refuseEarlyStaleness(in section: inout Section, limits: Limits) {
    guard let spacing = policy.backgroundInterval.spacing(floor: limits.backgroundFloor) else { return }
    if let after = policy.staleAfter, after < spacing,
      let key = ["stale_after", "background_interval"].first(where: section.isWritten)
    {
      section.refuse(
        key, "cannot keep data fresher than \(after.inSystemdForm) with a refresh every \(spacing.inSystemdForm)",
        remedy: "write a longer stale_after or a shorter background_interval")
    }
    if let maxStale = policy.maxStale, maxStale < spacing,
      let key = ["max_stale", "background_interval"].first(where: section.isWritten)
    {
      section.refuse(
        key, "cannot use max_stale = \"\(maxStale.inSystemdForm)\" with a refresh every \(spacing.inSystemdForm)",
        remedy: "write a longer max_stale or a shorter background_interval")
    }
  }

  /// Refuses keys that would have no effect: an `on_stale` without a `stale_after`, an `on_held` without a `held_for`, a
  /// `watch_settle` without a `watch`, an `on_failure` without `failures_before_notice`, and settings of a sandbox without
  /// one.
  func refuseIdleKeys(in section: inout Section) {
    for (key, other, reason, example) in [
      ("on_stale", "stale_after", "cannot run on_stale without stale_after", "6h"),
      ("on_held", "held_for", "cannot run on_held without held_for", "2h"),
    ] where section.isWritten(key) && !isSet(other) && !section.isWritten(other) {
      section.refuse(key, reason, remedy: #"add for example \#(other) = "\#(example)""#)
    }
    if section.isWritten("watch_settle"), !isSet("watch"), !section.isWritten("watch") {
      section.refuse(
        "watch_settle", "cannot use watch_settle without watch",
        remedy: #"add for example watch = ["~/Notes"]"#)
    }
    if section.isWritten("on_failure"), policy.failuresBeforeNotice == nil {
      section.refuse(
        "on_failure", #"cannot run on_failure with failures_before_notice = "never""#,
        remedy: "write for example failures_before_notice = 2")
    }
    for key in ["writable", "offline"] where section.isWritten(key) && sandbox.level == .none {
      section.refuse(
        key, "cannot set \(key) without a sandbox", remedy: #"add sandbox = "strict", or remove the key"#)
    }
  }
}
