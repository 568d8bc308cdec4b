import Glibc
import RefreshConfig
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

extension LauncherTests {
  @Suite struct SpawnLauncherTests {
    @Test(arguments: [
      ("exit 0", TaskEnd.Exit.exited(0)),
      ("exit 100", .exited(100)),
      ("exit 255", .exited(255)),
      ("kill -TERM $$", .signalled(SIGTERM)),
      ("kill -KILL $$", .signalled(SIGKILL)),
      ("kill -PIPE $$", .signalled(SIGPIPE)),
    ])
    func aTaskEndsWithItsMainProcess(script: String, exit: TaskEnd.Exit) throws {
      #expect(try Stage.play(shell(script)).end.exit == exit)
    }

    @Test func bothStreamsArriveAsLines() throws {
      let (end, lines) = try Stage.play(shell("echo one; echo two >&2; echo; printf three"))
      #expect(lines == ["one", "two", "", "three"])
      #expect(end.printed)
      #expect(end.message == "three")
    }

    @Test func aSilentTaskPrintsNothing() throws {
      let (end, lines) = try Stage.play(shell(":"))
      #expect(lines.isEmpty)
      #expect(!end.printed)
      #expect(end.message == "")
    }

    @Test func aLargeOutputArrivesUpToTheAllowanceOfItsApp() throws {
      let (end, lines) = try Stage.play(shell("seq 1 200000; echo done"))
      #expect(end.exit == .exited(0))
      #expect(lines.prefix(1000) == (1...1000).map { "\($0)" }[...])
      #expect(lines.count < 2000)
      #expect(lines.contains { $0.hasPrefix("refreshd dropped ") })
      #expect(end.message == "done")
    }

    @Test func whatOneTaskPrintsIsNotMissingInAnother() throws {
      let (loop, meter) = (try EventLoop(), OutputMeters.Meter())
      let reader = Reader(loop)
      let pipes = try (0..<2).map { _ in try TaskStreams.output(for: "a test") }
      defer { for pipe in pipes { close(pipe.writer) } }
      let outputs = try (0..<2).map { task in
        let key = ProcessKey(run: RunID(start: 7, number: 3), task: task)
        return try TaskOutput(pipes[task].reader, of: key, on: loop, meter: meter, for: reader)
      }
      write(pipes[0].writer, String(repeating: "x\n", count: 1500), 3000)
      _ = try loop.run()
      meter.allowance = OutputAllowance()
      write(pipes[1].writer, "hello\n", 6)
      for output in outputs.reversed() { output.drain() }
      #expect(reader.lines[1] == ["hello"])
      // The allowance grows with time, so that a slow machine may print a few lines more.
      let dropped = 1500 - (reader.lines[0].count - 1)
      #expect((450...500).contains(dropped))
      #expect(reader.lines[0].last?.hasPrefix("refreshd dropped \(dropped) lines (\(2 * dropped) bytes)") == true)
    }

    /// Gathers the lines of two tasks, and ends the loop when one has printed a whole allowance.
    private final class Reader: ProcessOwner {
      private(set) var lines: [[String]] = [[], []]
      private let loop: EventLoop

      init(_ loop: EventLoop) { self.loop = loop }

      func printed(_ line: String, by key: ProcessKey) {
        lines[key.task].append(line)
        if lines[key.task].count == 1000 { loop.exit(0) }
      }

      func ended(_ key: ProcessKey, _ end: TaskEnd) {}
    }

    @Test func inputIsReadFromTheStart() throws {
      let payload = Array(String(repeating: "payload ", count: 20_000).utf8)
      #expect(try Stage.play(launch(["/usr/bin/wc", "-c"], input: payload)).lines == ["160000"])
      #expect(try Stage.play(launch(["/usr/bin/wc", "-c"])).lines == ["0"])
    }

    @Test func theEnvironmentIsExactlyTheGivenOne() throws {
      let task = try launch(["/usr/bin/env"], environment: ["NAME=", "QUOTED=a b\"c", "ÜMLAUT=ß"])
      #expect(try Stage.play(task).lines == task.environment)
    }

    @Test func noShellReadsTheArguments() throws {
      let arguments = ["$HOME", "a b", "", "*", "'"]
      #expect(try Stage.play(launch(["/usr/bin/printf", "<%s>\\n"] + arguments)).lines == arguments.map { "<\($0)>" })
    }

    @Test func theDirectoryIsTheCommandsOrTheHome() throws {
      #expect(try Stage.play(launch(["/bin/pwd"], directory: "/usr/bin")).lines == ["/usr/bin"])
      let owner = Owner(uid: geteuid(), gid: getegid(), name: "tester", home: "/usr")
      #expect(try Stage.play(launch(["/bin/pwd"], directory: nil, owner: owner)).lines == ["/usr"])
    }

    @Test func aTaskInheritsNothingOfTheDaemon() throws {
      // An open descriptor without close-on-exec, a blocked and an ignored signal.
      let descriptor = open("/dev/null", O_RDONLY)
      defer { close(descriptor) }
      var (blocked, before) = (sigset_t(), sigset_t())
      sigaddset(&blocked, SIGUSR2)
      pthread_sigmask(SIG_BLOCK, &blocked, &before)
      defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
      signal(SIGPIPE, SIG_IGN)
      let (_, lines) = try Stage.play(
        shell("echo $(ls /proc/self/fd); grep -E 'Sig(Blk|Ign)|NSsid|NSpgid' /proc/self/status; echo $$"))
      // The fourth descriptor is the directory that ls itself reads.
      #expect(lines.first == "0 1 2 3")
      let main = try #require(lines.last)
      let fields = lines.map { $0.split(separator: "\t").map(String.init) }
      #expect(fields.contains(["SigBlk:", "0000000000000000"]))
      #expect(fields.contains(["NSpgid:", main]))
      #expect(fields.contains(["NSsid:", main]))
      let ignored = try #require(fields.first { $0.first == "SigIgn:" }?.last.flatMap { UInt64($0, radix: 16) })
      // The C library reserves the signals 32 and 33.
      #expect(ignored & ~(0b11 << 31) == 0)
    }

    @Test(arguments: [
      (["/nonexistent/program"], "/", "cannot start /nonexistent/program: No such file or directory; install it"),
      (["/etc/passwd"], "/", "cannot start /etc/passwd: Permission denied; make it executable"),
      (["/"], "/", "cannot start /: Permission denied"),
      (["/bin/true"], "/nonexistent", "cannot start /bin/true: cannot enter its directory /nonexistent: No such file"),
      ([], "/", "cannot start an empty command"),
    ])
    func aFailedStartSaysWhy(arguments: [String], directory: String, sentence: String) throws {
      let end = try Stage.play(launch(arguments, directory: directory)).end
      guard case .notStarted(let said) = end.exit else {
        Issue.record("it started: \(end)")
        return
      }
      #expect(said.hasPrefix(sentence))
    }

    @Test(arguments: [AppSandbox.Level.strict, .none])
    func nothingRunsUnconfined(level: AppSandbox.Level) throws {
      var task = try launch(["/bin/true"])
      task.sandbox.level = level
      task.sandbox.memoryMax = 1 << 30
      let end = try Stage.play(task).end
      guard case .notStarted(let said) = end.exit else { throw Unexpected(end) }
      #expect(said.hasPrefix("cannot start /bin/true: only a service manager can confine it as its app's file asks"))
    }

    @Test func aTaskRunsAsItsOwner() throws {
      let nobody = Owner(uid: 65534, gid: 65534, name: "nobody", home: "/", groups: [65534])
      let task = try launch(["/usr/bin/id"], owner: nobody)
      let (end, lines) = try Stage.play(task)
      if geteuid() == 0 {
        let identity = try #require(lines.first)
        #expect(identity.hasPrefix("uid=65534(nobody) gid=65534("))
        #expect(!identity.contains("(root)"), "no group of the daemon's is kept")
      } else {
        guard case .notStarted(let said) = end.exit else { throw Unexpected(end) }
        #expect(said.contains("only a daemon that runs as root"))
      }
    }

    @Test func processorTimeIsCounted() throws {
      let end = try Stage.play(shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")).end
      #expect(end.cpu > .milliseconds(5))
      #expect(end.cpu < .seconds(20))
    }

    @Test func aWarningReachesATaskThatHandlesItAndHarmsNoOther() throws {
      let stage = try Stage()
      let listens = try shell("trap 'echo heard; exit 3' URG; echo ready; sleep 1000 & wait", task: 0)
      let isDeaf = try shell("echo ready; i=0; while [ $i -lt 5000 ]; do i=$((i+1)); done; exit 4", task: 1)
      stage.onLine = { key, line in
        if line == "ready" { stage.processes.warn(key) }
      }
      try stage.play([listens, isDeaf])
      #expect(stage.ends[listens.key]?.exit == .exited(3))
      #expect(stage.lines[listens.key] == ["ready", "heard"])
      #expect(stage.ends[isDeaf.key]?.exit == .exited(4))
    }

    @Test func manyTasksLeaveNeitherDescriptorsNorProcesses() throws {
      try raiseDescriptorLimit(to: 4096)
      let pipesBefore = descriptors(to: "pipe:").count
      for _ in 1...3 {
        let stage = try Stage()
        let tasks = try (0..<500).map { try launch(["/bin/true"], task: $0) }
        try stage.play(tasks)
        #expect(stage.ends.count == 500)
        #expect(stage.ends.values.allSatisfy { $0.exit == .exited(0) })
      }
      #expect(descriptors(to: "anon_inode:[pidfd]").isEmpty)
      // Other tests have some pipes open; a leak would be 1,500.
      #expect(descriptors(to: "pipe:").count < pipesBefore + 200)
      #expect(SmallFiles.bytes(of: "/proc/thread-self/children").isEmpty)
    }
  }
}

struct Unexpected: Error {
  let end: TaskEnd
  init(_ end: TaskEnd) { self.end = end }
}

/// The descriptors of the test process whose target begins with this text.
private func descriptors(to target: String) -> [String] {
  SmallFiles.names(in: "/proc/self/fd").filter { name in
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
      guard let start = buffer.baseAddress else { return false }
      let count = readlink("/proc/self/fd/\(name)", start, buffer.count - 1)
      guard count > 0 else { return false }
      start[count] = 0
      return String(cString: start).hasPrefix(target)
    }
  }
}

private func raiseDescriptorLimit(to count: rlim_t) throws {
  var limit = rlimit()
  getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  guard limit.rlim_cur < count else { return }
  limit.rlim_cur = min(count, limit.rlim_max)
  try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
}
