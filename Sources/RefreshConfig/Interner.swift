import RefreshEngine

/// Keeps one copy of each value that several apps of a configuration have in common.
///
/// A thousand apps often have the same tasks, environment and directory. Equal values share one buffer.
struct Interner {
  private var texts: Set<String> = []
  private var lists: Set<[String]> = []
  private var tasks: Set<[TaskPolicy]> = []
  private var commands: Set<[Command]> = []
  private var sandboxes: Set<[SandboxProperty]> = []

  mutating func intern(_ text: String) -> String { texts.insert(text).memberAfterInsert }
  mutating func intern(_ list: [String]) -> [String] { lists.insert(list).memberAfterInsert }
  mutating func intern(_ list: [TaskPolicy]) -> [TaskPolicy] { tasks.insert(list).memberAfterInsert }
  mutating func intern(_ list: [Command]) -> [Command] { commands.insert(list).memberAfterInsert }
  mutating func intern(_ list: [SandboxProperty]) -> [SandboxProperty] { sandboxes.insert(list).memberAfterInsert }
}
