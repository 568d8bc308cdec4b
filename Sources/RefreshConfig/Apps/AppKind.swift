import RefreshEngine

/// The kind of work that an app's refreshes do: the values of `kind`.
enum AppKind: String, Hashable, Sendable, CaseIterable {
  /// Short work, for data that the user may open at any moment.
  case refresh
  /// No refresh: a service of systemd runs only while nothing holds the app.
  case guarding = "guard"
  /// Long work, which runs only while the user is idle and the machine has mains power.
  case processing

  /// The deadline of long work without one in its file; the `deadline` of `[defaults]` is meant for short work.
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
    settings.set("adaptive", \.policy.isAdaptive, to: false)
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
