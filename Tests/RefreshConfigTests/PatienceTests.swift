import Glibc
import RefreshConfig
import Synchronization
import Testing

/// Paths on a file system that does not answer.
@Suite struct PatienceTests {
  /// A dead mount: a look below it waits until the mount is released.
  private final class DeadMount: Sendable {
    private let gate = Mutex(())
    let looks = Mutex(0)

    /// Makes every look wait while `body` runs.
    func whileDead(_ body: () throws -> Void) rethrows { try gate.withLock { _ in try body() } }

    func isProgram(_ path: String) -> Bool {
      guard path.hasPrefix("/dead/") else { return true }
      looks.withLock { $0 += 1 }
      return gate.withLock { _ in true }
    }
  }

  @Test func aProgramThatNobodyCanLookAtHoldsItsAppAlone() throws {
    let mount = DeadMount()
    let reader = Reader(isProgram: { mount.isProgram($0) }, workers: [])
    let scratch = try Scratch()
    func write(_ name: String, _ program: String) throws {
      try scratch.write(
        "apps.d/org.example.\(name).toml", "id = \"org.example.\(name)\"\n[[task]]\nrun = [\"\(program)\"]\n")
    }
    try write("good", "/opt/good")
    try write("one", "/dead/bin/one")
    try write("two", "/dead/bin/two")
    func held() throws -> [String] {
      try Configuration.loadAtStart(from: .directory(scratch.path), as: reader).held.map(\.description)
    }
    try mount.whileDead {
      let problems = try held()
      #expect(problems.count == 2, "\(problems)")
      #expect(problems.allSatisfy { $0.contains("its file system has not answered for 2 s") }, "\(problems)")
      #expect(try held() == problems)
      #expect(mount.looks.withLock { $0 } == 1, "one thread waits, however often the files are read")
    }
    // The thread that waited ends in its own time.
    for _ in 1...10_000 {
      if try held().isEmpty { return }
      sched_yield()
    }
    Issue.record("the apps are held although their file system answers")
  }
}
