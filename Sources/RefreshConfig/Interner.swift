import RefreshEngine

/// Keeps one copy of each value that several apps of a configuration share.
///
/// A thousand apps often have the same settings, tasks, environment and directory. Equal values share one buffer or box.
struct Interner {
  /// Whether values stay as they are.
  ///
  /// Texts that are equal in Swift may differ in their bytes ("é" has two forms), and name different files. Only ASCII
  /// texts are equal exactly if their bytes are.
  var isOff = false
  private var texts: Set<String> = []
  private var lists: Set<[String]> = []
  private var tasks: Set<[TaskPolicy]> = []
  private var commands: Set<[Command]> = []
  private var settings: Set<Boxed<AppConfiguration.Settings>> = []
  private var execSettings: Set<Boxed<Command.ExecSettings>> = []

  mutating func intern(_ text: String) -> String { isOff ? text : texts.insert(text).memberAfterInsert }
  mutating func intern(_ list: [String]) -> [String] { isOff ? list : lists.insert(list).memberAfterInsert }
  mutating func intern(_ list: [TaskPolicy]) -> [TaskPolicy] { isOff ? list : tasks.insert(list).memberAfterInsert }
  mutating func intern(_ list: [Command]) -> [Command] { isOff ? list : commands.insert(list).memberAfterInsert }
  mutating func intern(_ value: AppConfiguration.Settings) -> Boxed<AppConfiguration.Settings> {
    isOff ? Boxed(value) : settings.insert(Boxed(value)).memberAfterInsert
  }
  /// The box of the settings; nil if none is set.
  mutating func intern(_ value: Command.ExecSettings) -> Boxed<Command.ExecSettings>? {
    if value == Command.ExecSettings() { return nil }
    return isOff ? Boxed(value) : execSettings.insert(Boxed(value)).memberAfterInsert
  }
}
