import CSQLite
import Glibc
import RefreshEngine
import Testing
import Threads

@testable import RefreshStore

/// The effects of other processes on the file, and of the end of our own.
@Suite struct ProcessTests {
  @Test func `another process that writes makes a save busy, and the next one saves all`() async throws {
    let scratch = try ScratchDirectory()
    let (store, _) = try RefreshStore.open(scratch)
    let (todo, mail) = (try app("todo"), try app("mail"))
    // This process's own connection stands for the other process's lock; a child finds the lock.
    let lock = try Lock(scratch)
    await #expect(processExitsWith: .success) { [path = scratch.database as String] in
      // A daemon that starts finds the file held.
      let error = #expect(throws: StoreError.self) {
        try RefreshStore.open(at: path, clock: .morning, executor: ThreadExecutor(name: "store-test"))
      }
      #expect(error?.code == .busy)
      #expect(error?.description.contains("end that program") == true)
    }
    let refused = await #expect(throws: StoreError.self) {
      try await store.save(Batch(.morning, states: [todo: AppState(isForeground: true)]), durably: false)
    }
    #expect(refused?.code == .busy)
    lock.release()
    try await store.save(Batch(.morning, states: [mail: AppState(isLoggedOut: true)]), durably: false)
    let (_, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.states == [todo: AppState(isForeground: true), mail: AppState(isLoggedOut: true)])
  }

  @Test(arguments: 1...8)
  func `a process killed in the middle of its commits loses none and halves none`(round: Int) async throws {
    let scratch = try ScratchDirectory()
    await #expect(processExitsWith: .signal(SIGKILL)) { [directory = scratch.path as String, round = round as Int] in
      try await commitUntilKilled(in: directory, round: round)
    }
    // Each commit wrote its number to every app and one line of history, and was then acknowledged.
    let acknowledged = try #require(Int64(try scratch.read("acknowledged")))
    let (store, loaded) = try RefreshStore.open(scratch)
    #expect(loaded.damaged == nil)
    #expect(loaded.start == 2)
    let numbers = Set(loaded.states.values.map(\.lastStart))
    let number = try #require(numbers.first.flatMap { $0 }?.microseconds)
    #expect(numbers.count == 1, "half of a commit is there")
    #expect((acknowledged...acknowledged + 1).contains(number))
    #expect(loaded.states.count == appCount)
    let last = try await store.history(of: app("a0"), limit: 1).first
    #expect(last?.id.run.number == UInt32(number))
  }

  @Test func `an executor's thread does not keep the process from ending`() async throws {
    let scratch = try ScratchDirectory()
    await #expect(processExitsWith: .exitCode(3)) { [path = scratch.database as String] in
      let (store, _) = try RefreshStore.open(
        at: path, clock: .morning, executor: ThreadExecutor(name: "store-test"))
      try await store.save(Batch(.morning), durably: false)
      exit(3)
    }
  }
}

private let appCount = 20

/// Saves a numbered commit after the other, and is killed at some moment after a number that depends on `round`.
private func commitUntilKilled(in directory: String, round: Int) async throws {
  let (store, loaded) = try RefreshStore.open(
    at: "\(directory)/refreshd.db", clock: .morning, executor: ThreadExecutor(name: "store-test"))
  let acknowledged = open("\(directory)/acknowledged", O_WRONLY | O_CREAT, 0o600)
  let apps = try (0..<appCount).map { try app("a\($0)") }
  let enough = Int64(round * round * 20)
  for number in Int64(1)... {
    let state = AppState(lastStart: Instant(microseconds: number))
    let record = RefreshRecord(
      id: RefreshID(start: loaded.start, number: UInt32(number)), app: apps[0], trigger: .interval,
      startedAt: Instant(microseconds: number), endedAt: Instant(microseconds: number), outcome: .noData)
    let states = Dictionary(uniqueKeysWithValues: apps.map { ($0, state) })
    try await store.save(Batch(.morning, states: states, records: [record]), durably: number % 5 == 0)
    // The same length each time, so that one write replaces the last whole.
    let text = String(String(repeating: "0", count: 12) + "\(number)").suffix(12)
    pwrite(acknowledged, String(text), 12, 0)
    if number == enough { killSoon() }
  }
}

/// Kills this process from another thread while this thread commits.
private func killSoon() {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      for _ in 0..<Int.random(in: 0...2_000) { sched_yield() }
      kill(getpid(), SIGKILL)
      return nil
    }, nil)
}

/// A write lock on the file, held through a connection of its own.
private final class Lock {
  private var handle: OpaquePointer?

  init(_ scratch: ScratchDirectory) throws {
    try #require(sqlite3_open(scratch.database, &handle) == SQLITE_OK)
    try #require(sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
  }

  func release() {
    sqlite3_close(handle)
    handle = nil
  }

  deinit { sqlite3_close(handle) }
}
