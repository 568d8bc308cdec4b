import Glibc
import RefreshEngine
import Systemd
import Testing

@testable import RefreshDaemon

/// The tests that start processes; serialized, because a process has one reaper of orphans.
@Suite(.serialized) enum LauncherTests {}

extension LauncherTests {
  @Suite struct ProcessTreeTests {
    /// Ways to leave a task: each prints its process id, ignores SIGTERM and never ends by itself.
    static let escapes = [
      "in the background": #"sh -c 'trap "" TERM; echo $$; exec sleep 1000' &"#,
      "in a session of its own": #"setsid sh -c 'trap "" TERM; echo $$; exec sleep 1000' &"#,
      "forked twice, without streams":
        #"(setsid sh -c 'trap "" TERM; echo $$; exec sleep 1000 >/dev/null 2>&1 </dev/null' &)"#,
      "forked twice, its environment cleaned": cleaned,
      "with a child that left it":
        #"(setsid sh -c 'trap "" TERM; (setsid sh -c "trap \"\" TERM; echo \$\$; exec sleep 1000" &); sleep 1000' &)"#,
    ]
    static let cleaned = #"(setsid env -i sh -c 'trap "" TERM; echo $$; exec /bin/sleep 1000 >/dev/null 2>&1' &)"#

    /// A task that waits, and exits with 0 when it is warned.
    static func waits(after escape: String, task: Int = 0) throws -> TaskLaunch {
      try shell("trap 'exit 0' URG; \(escape)\n sleep 1000 & wait", task: task)
    }

    enum Ending: CaseIterable { case byItself, terminated, killed }

    @Test(arguments: Array(escapes.keys.sorted()), TreeKind.available)
    func theProcessesThatATaskLeavesDieWithIt(escape: String, kind: TreeKind) throws {
      for ending in Ending.allCases {
        try kind.withTrees { trees in
          let stage = try Stage(trees: trees)
          let task = try Self.waits(after: try #require(Self.escapes[escape]))
          stage.onLine = { key, _ in
            switch ending {
            case .byItself: stage.processes.warn(key)
            case .terminated: stage.processes.terminate(key)
            case .killed: stage.processes.kill(key)
            }
          }
          try stage.play([task])
          let exit: TaskEnd.Exit =
            switch ending {
            case .byItself: .exited(0)
            case .terminated: .signalled(SIGTERM)
            case .killed: .signalled(SIGKILL)
            }
          #expect(stage.ends[task.key]?.exit == exit)
          let left = stage.processes(of: task.key)
          #expect(left.count == 1)
          #expect(!left.contains(where: isAlive))
          if kind == .subreaper { #expect(!left.contains(where: exists), "it is reaped too") }
        }
      }
    }

    @Test(arguments: TreeKind.available)
    func aSignalReachesProcessesThatLeftTheGroup(kind: TreeKind) throws {
      try kind.withTrees { trees in
        let stage = try Stage(trees: trees)
        let task = try shell(
          """
          trap : TERM
          setsid sh -c 'trap "echo heard; exit" TERM; echo ready; while :; do sleep 1000 & wait; done' &
          while kill -0 $! 2>/dev/null; do wait $!; done
          exit 3
          """)
        stage.onLine = { key, line in
          if line == "ready" { stage.processes.terminate(key) }
        }
        try stage.play([task])
        #expect(stage.lines[task.key] == ["ready", "heard"])
        #expect(stage.ends[task.key]?.exit == .exited(3))
      }
    }

    @Test func aStoppedTaskReceivesSIGTERM() throws {
      let stage = try Stage()
      let task = try shell("trap 'echo heard; exit 3' TERM; echo ready; kill -STOP $$; sleep 1000 & wait")
      stage.onLine = { key, line in
        if line == "ready" { stage.processes.terminate(key) }
      }
      try stage.play([task])
      #expect(stage.ends[task.key]?.exit == .exited(3))
    }

    @Test(arguments: TreeKind.available)
    func theProcessesOfAnotherTaskContinue(kind: TreeKind) throws {
      try kind.withTrees { trees in
        let stage = try Stage(trees: trees)
        let escape = try #require(Self.escapes["forked twice, without streams"])
        let (one, other) = (try Self.waits(after: escape, task: 0), try Self.waits(after: escape, task: 1))
        stage.onLine = { _, _ in
          if stage.lines.count == 2 { stage.processes.kill(one.key) }
        }
        stage.onEnd = { key in
          guard key == one.key else { return }
          #expect(stage.processes(of: one.key).allSatisfy(ends))
          #expect(stage.processes(of: other.key).allSatisfy(isAlive))
          stage.processes.kill(other.key)
        }
        try stage.play([one, other])
        #expect(stage.processes(of: other.key).allSatisfy(ends))
      }
    }

    @Test func aProcessOfUnknownTaskDiesWithTheLastTask() throws {
      let stage = try Stage()
      let (one, other) = (try Self.waits(after: Self.cleaned, task: 0), try Self.waits(after: "echo ready", task: 1))
      stage.onLine = { _, _ in
        if stage.lines.count == 2 { stage.processes.kill(one.key) }
      }
      stage.onEnd = { key in
        if key == one.key { stage.processes.kill(other.key) }
      }
      try stage.play([one, other])
      #expect(!stage.processes(of: one.key).contains(where: exists))
    }

    @Test func remainingProcessesCountAsProcessorTime() throws {
      let stage = try Stage()
      let busy = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done; echo ready; exec sleep 1000"
      let task = try Self.waits(after: "setsid sh -c '\(busy)' &")
      stage.onLine = { key, _ in stage.processes.warn(key) }
      try stage.play([task])
      #expect(try #require(stage.ends[task.key]).cpu > .milliseconds(10))
    }

    // MARK: Processes of a previous daemon

    @Test(arguments: escapes.filter { $0.value != cleaned }.keys.sorted())
    func aStartEndsTheProcessesOfAPreviousDaemon(escape: String) throws {
      let stage = try Stage()
      let task = try Self.waits(after: try #require(Self.escapes[escape]))
      stage.onLine = { key, line in
        // A shell whose child was killed may print that before it is killed itself.
        guard pid_t(line) != nil else { return }
        let left = stage.processes(of: key)
        let bound = WaitBound(20)
        LeftProcesses(socket: "\(Stage.socket)-2", runs: [key.run]).kill(until: bound)
        LeftProcesses(socket: Stage.socket, runs: [RunID(start: 7, number: 30)]).kill(until: bound)
        #expect(left.allSatisfy(isAlive), "another daemon's, or another refresh's")
        LeftProcesses(socket: Stage.socket, runs: [key.run]).kill(until: bound)
        #expect(!left.contains(where: isAlive))
      }
      try stage.play([task])
    }

    @Test func aStartEndsTheCgroupsOfAPreviousDaemon() throws {
      guard TreeKind.available.contains(.cgroup) else { return }
      try TreeKind.cgroup.withTrees { trees in
        let stage = try Stage(trees: trees)
        let task = try Self.waits(after: Self.cleaned)
        stage.onLine = { key, _ in
          let left = stage.processes(of: key)
          #expect(throws: Never.self) { try trees(stage.loop).clean(until: WaitBound(20)) }
          #expect(!left.contains(where: isAlive))
        }
        try stage.play([task])
      }
    }
  }
}
