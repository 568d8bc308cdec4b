import RefreshEngine

/// Keeps one copy of what many apps have in common.
///
/// A thousand apps often have the same tasks, environment and directory; equal values of one configuration then share
/// one buffer.
struct Sharing {
  private var texts: Set<String> = []
  private var lists: Set<[String]> = []
  private var tasks: Set<[TaskPolicy]> = []
  private var commands: Set<[Command]> = []
  private var sandboxes: Set<[SandboxProperty]> = []

  mutating func one(_ text: String) -> String { texts.insert(text).memberAfterInsert }
  mutating func one(_ list: [String]) -> [String] { lists.insert(list).memberAfterInsert }
  mutating func one(_ list: [TaskPolicy]) -> [TaskPolicy] { tasks.insert(list).memberAfterInsert }
  mutating func one(_ list: [Command]) -> [Command] { commands.insert(list).memberAfterInsert }
  mutating func one(_ list: [SandboxProperty]) -> [SandboxProperty] { sandboxes.insert(list).memberAfterInsert }
}
