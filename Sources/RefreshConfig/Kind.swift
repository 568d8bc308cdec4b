import RefreshEngine

/// What kind of work the refreshes of an app are: the words of `kind` (FEATURES B10).
enum Kind: String, Hashable, Sendable, CaseIterable {
  /// Short, for data that somebody may open at any moment.
  case refresh
  /// Long, for an hour in which nobody needs the machine: only while the user is idle and on external power.
  case processing

  /// How long it may take where the app's own file does not say: the `deadline` of `[defaults]` is meant for what is short.
  private static let longDeadline = Duration.minutes(10)

  /// Takes the key out of a section, and refuses beside it what contradicts it.
  init(from section: inout Section, beside settings: Settings) {
    self = section.takeWord("kind", example: .processing) ?? .refresh
    guard self == .processing else { return }
    if settings.constraints.idle == false {
      section.refuse(
        "idle",
        Unreadable(
          message: "cannot do long work while somebody uses the machine",
          remedy: #"remove the key, or write kind = "refresh""#))
    }
    if let power = settings.constraints.power, power != .ac {
      section.refuse(
        "power",
        Unreadable(
          message: "cannot do long work with power = \(quoted(power.rawValue)): it needs mains power",
          remedy: #"remove the key, or write kind = "refresh""#))
    }
    if settings.meteredWhenStale == true {
      section.refuse(
        "metered_when_stale",
        Unreadable(
          message: "cannot relax the constraints of long work, however old its data is",
          remedy: #"remove the key, or write kind = "refresh""#))
    }
  }

  /// The settings of an app of this kind, before `[defaults]` complete them.
  func completing(_ settings: Settings, limits: Limits) -> Settings {
    guard self == .processing else { return settings }
    var settings = settings
    settings.constraints.idle = true
    settings.constraints.power = .ac
    settings.deadline = settings.deadline ?? min(Self.longDeadline, limits.deadlineCap)
    return settings
  }
}
