import RefreshConfig
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The owners of processes, and the looks at their paths before and after them.
@Suite struct ProcessesTests {
  private final class Part: ProcessOwner {
    private(set) var lines: [String] = []
    private(set) var ends: [TaskEnd] = []

    func printed(_ line: String, by key: ProcessKey) { lines.append(line) }
    func ended(_ key: ProcessKey, _ end: TaskEnd) { ends.append(end) }
  }

  private let scheduler = VirtualScheduler()
  private let looks = MemoryLooks()
  private let launcher: MemoryLauncher
  private let processes: Processes
  private let part = Part()
  private let other = Part()
  private let before = Fingerprint(text: "1 a")
  private let after = Fingerprint(text: "1 b")

  init() {
    let running = RunningProcesses(scheduler, looks)
    launcher = MemoryLauncher(running)
    processes = Processes(launcher, running)
  }

  private func seen(_ print: Fingerprint?) throws -> PathLook { .seen(try #require(print)) }

  @Test func eachOwnerHearsOfItsOwnProcesses() throws {
    let (one, two) = (try launch(["/one"], task: 0), try launch(["/two"], task: 1))
    processes.start(one, for: part)
    processes.start(two, for: other)
    launcher.print("from one", by: one.key)
    launcher.end(two.key, TaskEnd(exit: .exited(2)))
    launcher.print("too late", by: two.key)
    launcher.end(two.key, TaskEnd(exit: .exited(3)))
    #expect(part.lines == ["from one"] && part.ends.isEmpty)
    #expect(other.lines.isEmpty && other.ends.map(\.exit) == [.exited(2)])
  }

  @Test(arguments: [true, false]) func aTaskIsStartedAndReportedBetweenTwoLooks(changes: Bool) throws {
    let task = try launch(["/task"], changedPath: "/mail")
    processes.start(task, for: part)
    #expect(launcher.started.isEmpty)
    looks.answer(try seen(before))
    #expect(launcher.started == [task.key])
    launcher.end(task.key, TaskEnd(exit: .exited(0)))
    #expect(part.ends.isEmpty)
    looks.answer(try seen(changes ? after : before))
    #expect(part.ends.map(\.changed) == [changes])
  }

  @Test func aTaskStoppedDuringTheFirstLookIsNeverStarted() throws {
    let task = try launch(["/task"], changedPath: "/mail")
    processes.start(task, for: part)
    processes.terminate(task.key)
    #expect(part.ends.isEmpty, "nothing is called back at once")
    scheduler.run(for: .zero)
    let sentence = "cannot start /task: it was stopped while its path was examined"
    #expect(part.ends == [TaskEnd(exit: .notStarted(sentence), message: sentence)])
    looks.answer(try seen(before))
    #expect(launcher.started.isEmpty && launcher.terminated.isEmpty)
  }

  @Test func killingDoesNotWaitForTheSecondLook() throws {
    let task = try launch(["/task"], changedPath: "/mail")
    processes.start(task, for: part)
    looks.answer(try seen(before))
    launcher.end(task.key, TaskEnd(exit: .exited(0)))
    processes.kill(task.key)
    looks.answer(try seen(after))
    #expect(part.ends.map(\.changed) == [nil])
    #expect(part.ends.map(\.message) == ["cannot tell whether /mail changed: it did not answer in time"])
    #expect(launcher.killed.isEmpty)
  }

  @Test func aTaskThatCannotStartIsReportedInTheNextTurnWithoutASecondLook() throws {
    let task = try launch(["/task"], changedPath: "/mail")
    processes.start(task, for: part)
    looks.answer(try seen(before))
    launcher.end(task.key, TaskEnd(exit: .notStarted("no such program")))
    #expect(part.ends.isEmpty, "nothing is called back at once")
    launcher.survivors = [task.key.run]
    processes.findSurvivors { #expect($0.isEmpty, "a task that was not started does not survive") }
    processes.terminate(task.key)
    processes.kill(task.key)
    scheduler.run(for: .zero)
    #expect(part.ends == [TaskEnd(exit: .notStarted("no such program"))])
    #expect(launcher.terminated.isEmpty && launcher.killed.isEmpty)
  }

  @Test func aRunWithATaskThatIsNotStartedDoesNotSurvive() throws {
    processes.start(try launch(["/task"], changedPath: "/mail"), for: part)
    let stays = RunID(start: 7, number: 4)
    launcher.survivors = [RunID(start: 7, number: 3), stays]
    var found: Set<RunID> = []
    processes.findSurvivors { found = $0 }
    #expect(found == [stays])
  }

  @Test func anAdoptedTaskIsComparedWithTheLookOfTheEarlierDaemon() throws {
    let tasks = try (0...1).map { try launch(["/task"], task: $0, changedPath: "/mail") }
    launcher.left = [tasks[0].key: before, tasks[1].key: nil]
    let left = tasks.map {
      LeftTask(key: $0.key, app: $0.app, command: $0.command, owner: $0.owner, changedPath: $0.changedPath)
    }
    _ = processes.adopt(left, stored: [], for: part)
    for task in tasks { launcher.end(task.key, TaskEnd(exit: .exited(0))) }
    #expect(part.ends.map(\.message) == ["cannot tell whether /mail changed: nobody knows how it was before"])
    looks.answer(try seen(after))
    #expect(part.ends.map(\.changed) == [nil, true])
  }
}
