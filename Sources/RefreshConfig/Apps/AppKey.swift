import RefreshEngine

/// A key that apps' files and `[defaults]` share, declared once.
///
/// The declaration has the key's name, its type with bounds and an example, and its setting. Reading, inheritance from
/// `[defaults]`, the list of known keys and their suggestions all follow from it. The default is the initial value in
/// ``ConfigurationSettings/init(limits:)`` or in the engine's `Policy`.
///
/// ``ExecContext`` reads `directory` and `environment`, because an app's table adds to the table of `[defaults]`.
struct AppKey: Sendable {
  /// Reads the key into the settings; false if it is missing or refused.
  let read: @Sendable (_ section: inout Section, LoadContext, inout ConfigurationSettings) -> Bool
  /// Copies the setting of `[defaults]`.
  let inherit: @Sendable (_ defaults: ConfigurationSettings, inout ConfigurationSettings) -> Void
  /// The key, as spelled in files.
  let name: String

  /// Declares a key.
  ///
  /// If the key is refused, its setting becomes `standIn`, so that no other key is refused as a consequence.
  private init<Value: Sendable>(
    _ name: String, _ setting: WritableKeyPath<ConfigurationSettings, Value> & Sendable,
    ifRefused standIn: Value? = nil,
    _ type: @escaping @Sendable (LoadContext) -> ValueType<Value>
  ) {
    self.name = name
    read = { section, context, settings in
      let value = section.read(name, type(context)) ?? (section.isWritten(name) ? standIn : nil)
      guard let value else { return false }
      settings[keyPath: setting] = value
      return true
    }
    inherit = { defaults, settings in settings[keyPath: setting] = defaults[keyPath: setting] }
  }

  /// Every key, by subject.
  static let all =
    intervals + process + sandbox + conditions + ownConditions + staleness + ends + pushes + changes + desktop

  /// The names of the keys that guards share with other apps: conditions, and how commands run.
  static let namesOfGuards = Set((sandbox + conditions + ownConditions).map(\.name) + ["group"])

  private static let intervals = [
    AppKey("foreground_interval", \.policy.foregroundInterval) { context in
      .text("5min") { (text) throws(Unreadable) in try Interval(text, floor: context.limits.foregroundFloor) }
    },
    AppKey("background_interval", \.policy.backgroundInterval, ifRefused: .never) { context in
      .text("1h") { (text) throws(Unreadable) in try BackgroundInterval(text, floor: context.limits.backgroundFloor) }
    },
    AppKey("background_floor", \.backgroundFloor) { context in
      .optional(.duration(context.limits.backgroundFloor ... .longest, example: "1h"))
    },
    AppKey("on_foreground", \.policy.onForeground) { _ in .word(.stale) },
  ]

  private static let process = [
    AppKey("deadline", \.policy.deadline) { .duration(.seconds(1)...$0.limits.deadlineCap, example: "30s") },
    AppKey("grace", \.policy.grace) { _ in .duration(.zero ... .minutes(1), example: "5s") },
    AppKey("background_priority", \.policy.backgroundPriority) { _ in .word(.normal) },
    AppKey("group", \.group) { context in
      .nameOrNumber("mail") { (text) throws(Unreadable) in try context.group(text) }
    },
  ]

  private static let sandbox = [
    AppKey("sandbox", \.sandbox.level, ifRefused: .strict) { $0.sandboxLevel },
    AppKey("writable", \.sandbox.writable) { _ in .array("~/Mail", AppSandbox.writable) },
    AppKey("offline", \.sandbox.isOffline) { _ in .boolean },
    AppKey("memory_max", \.sandbox.memoryMax) { $0.memoryMax },
  ]

  private static let conditions = [
    AppKey("network", \.policy.constraints.network) { _ in .word(.unmetered) },
    AppKey("ssids", \.policy.constraints.ssids) { _ in .array("Home", checkedSSID) },
    AppKey("denied_ssids", \.policy.constraints.deniedSSIDs) { _ in .array("Hotel", checkedSSID) },
    AppKey("power", \.policy.constraints.power) { _ in .word(.notLow) },
    AppKey("idle", \.policy.constraints.idle) { _ in .boolean },
    AppKey("calm", \.policy.constraints.calm) { _ in .boolean },
    AppKey("quiet", \.policy.quiet) { _ in .optional(.text("22:00-06:00", QuietHours.init(_:)), none: "never") },
  ]

  private static let ownConditions = [
    AppKey("mounted", \.policy.constraints.mounted) { context in
      .optional(.text("/media/backup") { (text) throws(Unreadable) in try context.mountPoint(text) })
    },
    AppKey("present", \.policy.constraints.present) { _ in .optional(.text("usb:1d6b:0002", OwnConditionText.device)) },
    AppKey("reachable", \.policy.constraints.reachable) { context in
      .optional(.text("nas.local:22") { (text) throws(Unreadable) in try context.server(text) })
    },
    AppKey("when", \.whenCommand) {
      .optional(
        $0.programs.arguments(
          example: #"["/usr/bin/nmcli", "--get-values", "GENERAL.STATE", "connection", "show", "vpn"]"#))
    },
  ]

  private static let staleness = [
    AppKey("max_stale", \.policy.maxStale, ifRefused: .longest) { _ in
      .optional(.duration(.minutes(1) ... .longest, example: "3d"))
    },
    AppKey("metered_when_stale", \.policy.meteredWhenStale) { _ in .boolean },
    AppKey("stale_after", \.policy.staleAfter) { _ in
      .optional(.duration(.minutes(1) ... .longest, example: "6h"), none: "never")
    },
    AppKey("on_stale", \.staleCommand) {
      .optional($0.programs.arguments(example: #"["/usr/bin/notify-send", "Old mail"]"#))
    },
    AppKey("held_for", \.policy.heldFor) { _ in
      .optional(.duration(.minutes(1) ... .longest, example: "2h"), none: "never")
    },
    AppKey("on_held", \.heldCommand) {
      .optional($0.programs.arguments(example: #"["/usr/bin/notify-send", "Mail waits"]"#))
    },
  ]

  private static let ends = [
    AppKey("failures_before_notice", \.policy.failuresBeforeNotice) { _ in
      .optional(.integer(1...1000, example: 2), none: "never")
    },
    AppKey("on_failure", \.failureCommand) {
      .optional($0.programs.arguments(example: #"["/usr/bin/notify-send", "Mail fails"]"#))
    },
    AppKey("on_new_data", \.newDataCommand) {
      .optional($0.programs.arguments(example: #"["/usr/bin/notmuch", "new"]"#))
    },
    AppKey("on_success", \.successCommand) {
      .optional($0.programs.arguments(example: #"["/usr/bin/logger", "fetched"]"#))
    },
    AppKey("ping", \.ping) { context in
      .optional(.text("https://hc-ping.com/UUID") { (text) throws(Unreadable) in try context.ping(text) })
    },
  ]

  private static let pushes = [
    AppKey("push_per_hour", \.policy.pushLimit.perHour) { _ in .integer(1...3600, example: 3) },
    AppKey("push_burst", \.policy.pushLimit.burst) { _ in .integer(1...100, example: 5) },
  ]

  private static let changes = [
    AppKey("watch", \.policy.watch) { $0.watchedFolders },
    AppKey("watch_settle", \.policy.watchSettle) { _ in .duration(.seconds(2) ... .hours(1), example: "30s") },
  ]

  private static let desktop = [
    AppKey("front", \.desktop.front) { _ in .word(.focused) },
    AppKey("lifecycle", \.desktop.lifecycle) { _ in .word(.desktop) },
    AppKey("terminated_on_exit", \.policy.isTerminatedOnExit) { _ in .boolean },
  ]

  /// The most bytes in the name of a Wi-Fi network (IEEE 802.11, "SSID element").
  private static let longestSSID = 32

  private static func checkedSSID(_ text: String) throws(Unreadable) -> String {
    guard (1...longestSSID).contains(text.utf8.count) else {
      throw Unreadable(
        "cannot use \(quoted(text)) as the name of a Wi-Fi network",
        remedy: "write a name of 1 to \(longestSSID) bytes")
    }
    return text
  }
}
