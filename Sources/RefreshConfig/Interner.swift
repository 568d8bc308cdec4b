import RefreshEngine

/// Keeps one copy of each value that several apps of a configuration have in common.
///
/// A thousand apps often have the same settings, tasks, environment and directory. Equal values share one buffer or box.
struct Interner {
  private var texts: Set<String> = []
  private var lists: Set<[String]> = []
  private var tasks: Set<[TaskPolicy]> = []
  private var commands: Set<[Command]> = []
  private var sandboxes: Set<[SandboxProperty]> = []
  private var settings: Set<Boxed<AppConfiguration.Settings>> = []
  private var execSettings: Set<Boxed<Command.ExecSettings>> = []

  mutating func intern(_ text: String) -> String { texts.insert(text).memberAfterInsert }
  mutating func intern(_ list: [String]) -> [String] { lists.insert(list).memberAfterInsert }
  mutating func intern(_ list: [TaskPolicy]) -> [TaskPolicy] { tasks.insert(list).memberAfterInsert }
  mutating func intern(_ list: [Command]) -> [Command] { commands.insert(list).memberAfterInsert }
  mutating func intern(_ list: [SandboxProperty]) -> [SandboxProperty] { sandboxes.insert(list).memberAfterInsert }
  mutating func intern(_ value: AppConfiguration.Settings) -> Boxed<AppConfiguration.Settings> {
    settings.insert(Boxed(value)).memberAfterInsert
  }
  /// The box of the execSettings; nil for those that leave everything open.
  mutating func intern(_ value: Command.ExecSettings) -> Boxed<Command.ExecSettings>? {
    value == Command.ExecSettings() ? nil : execSettings.insert(Boxed(value)).memberAfterInsert
  }
}
