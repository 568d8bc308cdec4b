/// Puts the pieces that tasks print together into lines, each behind the name of its task.
///
/// Tasks run side by side: without this their lines would run into each other.
struct OutputLines {
  /// What each task has printed since its last line end, in the order in which the tasks first printed.
  private var open: [(task: String, text: String)] = []

  /// Takes a piece and gives the lines that it completes.
  mutating func take(_ text: String, from task: String) -> [String] {
    let index =
      open.firstIndex { $0.task == task }
      ?? {
        open.append((task, ""))
        return open.count - 1
      }()
    var pieces = (open[index].text + text).split(separator: "\n", omittingEmptySubsequences: false)
    open[index].text = pieces.popLast().map(String.init) ?? ""
    return pieces.map { "\(task): \($0)" }
  }

  /// Gives what is left of lines that never ended.
  mutating func rest() -> [String] {
    defer { open = [] }
    return open.filter { !$0.text.isEmpty }.map { "\($0.task): \($0.text)" }
  }
}
