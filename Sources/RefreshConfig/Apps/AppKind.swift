import RefreshEngine

/// The kind of work that an app's refreshes do: the values of `kind`.
enum AppKind: String, Hashable, Sendable, CaseIterable {
  /// Short work, for data that the user may open at any moment.
  case refresh
  /// No refresh: a service of systemd runs only while nothing holds the app.
  case guarding = "guard"
  /// Long work, which runs only while the user is idle and the machine has mains power.
  case processing

  /// The deadline of long work whose file sets none; the `deadline` of `[defaults]` is meant for short work.
  private static let longDeadline = Duration.minutes(10)

  /// Reads the key, and refuses settings that contradict it.
  init(from section: inout Section, with settings: ConfigurationSettings) {
    self = section.read("kind", .word(.processing)) ?? .refresh
    guard self == .processing else { return }
    func refuse(_ key: String, _ message: String) {
      section.refuse(key, message, remedy: #"remove the key, or write kind = "refresh""#)
    }
    let constraints = settings.policy.constraints
    if settings.isSet("idle"), !constraints.idle {
      refuse("idle", "cannot do long work while somebody uses the machine")
    }
    if settings.isSet("power"), constraints.power != .ac {
      refuse("power", "cannot do long work with power = \(quoted(constraints.power.rawValue)): it needs mains power")
    }
    if settings.isSet("metered_when_stale"), settings.policy.meteredWhenStale {
      refuse("metered_when_stale", "cannot relax the constraints of long work, however old its data is")
    }
  }

  /// Sets the keys that the kind implies, before `[defaults]` are inherited.
  func apply(to settings: inout ConfigurationSettings, limits: Limits) {
    switch self {
    case .refresh: break
    case .guarding: refreshNothing(in: &settings)
    case .processing: workLong(in: &settings, limits: limits)
    }
  }

  private func refreshNothing(in settings: inout ConfigurationSettings) {
    settings.set("foreground_interval", \.policy.foregroundInterval, to: .never)
    settings.set("background_interval", \.policy.backgroundInterval, to: .never)
    settings.set("on_foreground", \.policy.onForeground, to: .never)
    settings.inheritNone(of: GuardKeys.ofRefreshes)
  }

  private func workLong(in settings: inout ConfigurationSettings, limits: Limits) {
    settings.policy.isProcessing = true
    settings.set("idle", \.policy.constraints.idle, to: true)
    settings.set("power", \.policy.constraints.power, to: .ac)
    if !settings.isSet("deadline") {
      settings.set("deadline", \.policy.deadline, to: min(Self.longDeadline, limits.deadlineCap))
    }
  }
}

/// The keys of a guard: `unit` and `guard`, at the top of the file, because a guard has no tasks.
enum GuardKeys {
  /// The keys.
  static let names = ["unit", "guard"]
  /// The keys of an app that have no meaning for a guard.
  fileprivate static let ofRefreshes = AppKey.all.map(\.name).filter { !AppKey.namesOfGuards.contains($0) }

  /// Reads the keys, and refuses the keys of a refreshed app; nil if the file names no unit.
  static func read(from section: inout Section, in load: LoadContext) -> GuardedUnit? {
    let unit = section.read("unit", .text("syncthing.service", GuardedUnit.name(checking:)))
    let means = section.read("guard", .word(.freeze)) ?? GuardedUnit.Means.stop
    if !section.isWritten("unit") {
      section.refuse(
        "unit", "a guard needs a unit", remedy: #"write for example unit = "syncthing.service""#)
    }
    for key in ofRefreshes + ["pin", "desktop", "task"] where section.isWritten(key) {
      section.refuse(
        key, "cannot set \(key) for a guard: it refreshes nothing",
        remedy: #"remove it, or write a second file with kind = "refresh""#)
    }
    if load.worker == nil {
      section.refuse(
        "kind",
        "cannot find refresh-worker, which guards units, at "
          + load.reader.workers.map(quoted).joined(separator: " or "), remedy: "install it there")
    }
    return unit.map { GuardedUnit($0, means: means) }
  }

  /// Refuses the keys of a guard in the file of another app.
  static func refuse(in section: inout Section, of kind: AppKind) {
    for key in names where section.isWritten(key) {
      let move = key == "unit" ? ", or move it below a [[task]]" : ", or remove the key"
      section.refuse(
        key, "cannot guard a unit with kind = \(quoted(kind.rawValue))", remedy: #"write kind = "guard""# + move)
    }
  }
}
