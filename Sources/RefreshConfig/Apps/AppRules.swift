import RefreshEngine

/// The commands and the ping of an app's file for the end of a refresh.
public struct EndRules: Hashable, Sendable {
  /// The command that runs when ``RefreshEngine/Policy/failuresBeforeNotice`` refreshes have failed; nil for none.
  public var onFailure: Command?
  /// The command that runs after a refresh with new data; nil for none.
  public var onNewData: Command?
  /// The command that runs after a refresh that did not fail; nil for none.
  public var onSuccess: Command?
  /// The URL of a dead man's switch, for reports of each refresh; nil for none.
  ///
  /// The whole URL is a secret: anyone who knows it can report for the app.
  public var ping: HTTPURL?
  /// The variables that the files add to a ping's environment, each `NAME=value`, such as a proxy.
  public var pingEnvironment: [String] = []
  /// The file that has the URL; nil for the app's own file.
  var pingFile: String?

  /// Whether every end of a refresh matters, and not only repeated failures.
  var wantEachEnd: Bool { onNewData != nil || onSuccess != nil || ping != nil }
}

extension LoadContext {
  /// Checks the URL of a dead man's switch, to which refresh-worker sends pings.
  func ping(_ text: String) throws(Unreadable) -> HTTPURL {
    let url = try HTTPURL(text)
    guard worker != nil else {
      throw Unreadable(
        "cannot ping \(url.host) without refresh-worker",
        remedy: "install it next to refreshd, or ping from on_success and on_failure")
    }
    return url
  }

  /// Makes the rules from an app's settings; nil for none.
  ///
  /// `hasOwnPing` says whether the URL comes from the app's own file, and not from `[defaults]`.
  func endRules(_ settings: ConfigurationSettings, _ owner: Owner, hasOwnPing: Bool) -> Boxed<EndRules>? {
    func command(_ arguments: [String]?) -> Command? { ownCommands(arguments, settings, owner).first }
    var rules = EndRules(
      onFailure: settings.policy.failuresBeforeNotice.flatMap { _ in command(settings.failureCommand) },
      onNewData: command(settings.newDataCommand), onSuccess: command(settings.successCommand), ping: settings.ping)
    if rules.ping != nil {
      rules.pingEnvironment = command([])?.environment ?? []
      rules.pingFile = hasOwnPing ? nil : mainFile
    }
    return rules == EndRules() ? nil : Boxed(rules)
  }
}

/// The rules for an app on its user's desktops: its names there, and its phase.
public struct DesktopRules: Hashable, Sendable {
  /// The desktop ids of the app's windows, units and bus names, without `.desktop`; empty for the app's own id.
  public var ids: [String] = []
  /// The state of a window that puts the app in front; the focus by default.
  public var front = FrontRule.focused
  /// The source of the app's phase; the desktop by default, until the app signals.
  public var lifecycle = LifecycleSource.desktop

  /// The most desktop ids of an app.
  static let mostIDs = 8

  /// Reads the key `desktop`.
  static func ids(from section: inout Section) -> [String] {
    let type = ValueType.array("org.gnome.Geary") { (text) throws(Unreadable) in try checkedID(text) }
    let ids = section.read("desktop", type) ?? []
    if ids.count > mostIDs {
      section.refuse(
        "desktop", "cannot use \(ids.count) desktop ids for one app", remedy: "write at most \(mostIDs)")
    }
    return ids
  }

  private static func checkedID(_ text: String) throws(Unreadable) -> String {
    let id = text.hasSuffix(".desktop") ? String(text.dropLast(".desktop".count)) : text
    guard (1...255).contains(id.utf8.count), !id.utf8.contains(where: \.isControl), !id.contains("/") else {
      throw Unreadable(
        "cannot use \(quoted(text)) as a desktop id",
        remedy: "write an id that refresh-session --list prints, without a slash, of 1 to 255 bytes")
    }
    return id
  }
}

/// The state of a window that puts its app in front: the values of `front`.
public enum FrontRule: String, Hashable, Sendable, CaseIterable {
  /// A window of the app has the focus.
  case focused
  /// A window of the app is open and not minimised, such as a dashboard on a second screen.
  case open
}

/// The source of an app's phase: the values of `lifecycle`.
public enum LifecycleSource: String, Hashable, Sendable, CaseIterable {
  /// The user's desktops, for an app that sends no signals.
  case desktop
  /// Only the app's signals and leases.
  case signals
}

/// The table `[pin]` of an app's file: numbers that replace learnt numbers.
extension Pins {
  /// How many times of the day can be pinned.
  private static let mostOpenings = 48

  /// Reads the table; pins nothing if there is none.
  init(from section: inout Section) {
    self = section.readTable("pin", example: "[pin], a table of numbers") { Pins(table: &$0) } ?? Pins()
  }

  private init(table: inout Section) {
    self.init()
    newDataPerDay = table.read("new_data_per_day", .number(0.01...1000, example: 6.5))
    var count = 0
    let times = ValueType<[Int]>.array("12:00") { (text) throws(Unreadable) in
      guard let minute = QuietHours.minuteOfDay(text[...]) else {
        throw Unreadable(
          "cannot read \(quoted(text)) as a time of day", remedy: #"write 00:00 to 23:59, as in "12:00""#)
      }
      count += 1
      guard count <= Self.mostOpenings else {
        throw Unreadable("cannot pin more than \(Self.mostOpenings) openings a day", remedy: "write the usual ones")
      }
      return minute
    }
    if let openings = table.read("openings", times) {
      self.openings = openings
      if openings.isEmpty {
        table.refuse(
          "openings", "cannot pin an empty list",
          remedy: "write a time of day, or remove the key so that refreshd learns the openings")
      }
    }
    cost = table.read("cost", .number(0.25...8, example: 2))
  }
}
