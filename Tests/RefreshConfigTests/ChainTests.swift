import RefreshConfig
import RefreshEngine
import Testing

/// `after` of a task, which names tasks of the same file.
@Suite("The order of tasks by `after`") struct ChainTests {
  /// Writes a file of tasks, given by their keys; the first line of each task is four lines below the previous task's.
  private func problems(_ tasks: String...) throws -> [String] {
    let scratch = try Scratch()
    try write(tasks, to: scratch)
    return scratch.problems().map { $0.replacing("apps.d/todo.toml:", with: "") }
  }

  private func write(_ tasks: [String], to scratch: Scratch) throws {
    let tables = tasks.map { "[[task]]\nrun = [\"/usr/bin/true\"]\n\($0)\n" }
    try scratch.write("apps.d/todo.toml", "id = \"org.example.todo\"\n" + tables.joined())
  }

  @Test("a task refers to others by name, in any order of the file")
  func places() throws {
    let scratch = try Scratch()
    try write(
      [#"name = "index"; after = ["true-2", "pull"]"#, #"name = "pull""#, "# true", "# true-2"].map {
        $0.replacing("; ", with: "\n")
      }, to: scratch)
    let tasks = try #require(try scratch.load().apps.first).policy.tasks
    #expect(tasks.map(\.name) == ["index", "pull", "true", "true-2"])
    #expect(tasks.map(\.after) == [[1, 3], [], [], []])
  }

  @Test("a name is refused if it is unknown, repeated or the task's own")
  func names() throws {
    #expect(
      try problems("name = \"pull\"", "name = \"index\"\nafter = [\"pul\"]") == [
        #"8: task.after: cannot start after "pul": no task of this file has that name; write one of "pull""#
      ])
    #expect(
      try problems("name = \"pull\"\nafter = [\"push\"]") == [
        #"5: task.after: cannot start after "push": no task of this file has that name; remove the key"#
      ])
    #expect(
      try problems("name = \"pull\"\nafter = [\"pull\"]") == [
        #"5: task.after: cannot start "pull" after itself; write the names of other tasks"#
      ])
    #expect(
      try problems("name = \"pull\"", "name = \"index\"\nafter = [\"pull\", \"pull\"]") == [
        #"8: task.after: cannot start after "pull" twice; write the name once"#
      ])
    #expect(
      try problems("after = \"pull\"") == [
        #"4: task.after: cannot use a string here; write for example after = ["pull"]"#
      ])
  }

  @Test("a cycle is refused")
  func circles() throws {
    #expect(
      try problems(
        "name = \"notify\"\nafter = [\"index\"]", "name = \"index\"\nafter = [\"pull\"]",
        "name = \"pull\"\nafter = [\"index\"]") == [
          #"9: task.after: cannot start any of these tasks first: "index" after "pull" after "index"; "#
            + "remove one name from after"
        ])
  }
}
