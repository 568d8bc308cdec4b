import Glibc
import RefreshEngine
import Testing

@testable import RefreshStore

/// A full disk stops nothing; what could not be saved is saved when there is room.
///
/// On a real, tiny file system, so root is needed: a test that cannot mount one fails.
@Suite struct FullDiskTests {
  @Test(arguments: [true, false])
  func `what a full disk refuses is part of the next save`(durably: Bool) async throws {
    let disk = try TinyDisk()
    let (store, loaded) = try RefreshStore.open(disk.scratch)
    let (first, second, third) = (try app("first"), try app("second"), try app("third"))
    try await store.save(Batch(.morning, states: [first: AppState(isForeground: true)]), durably: true)

    try disk.fill()
    var values = SeededValues(seed: 1)
    var records: [RefreshRecord] = []
    var refused: StoreError?
    while refused == nil {
      try #require(records.count < 10_000, "the disk was never full")
      let record = values.record(of: second, id: RefreshID(start: loaded.start, number: UInt32(records.count + 1)))
      records.append(record)
      do {
        try await store.save(
          Batch(
            .morning, states: [second: AppState(isLoggedOut: true)],
            device: DeviceState(pause: records.count.isMultiple(of: 2) ? .untilAC : nil), records: [record],
            waits: [.made(records.count, of: second)]), durably: durably)
      } catch {
        refused = error
      }
    }
    #expect(refused?.code == .full)
    #expect(refused?.description.contains("free some space") == true)
    let stillFull = await #expect(throws: StoreError.self) {
      try await store.save(
        Batch(.morning, states: [first: AppState()], device: DeviceState(pause: .untilResumed)), durably: durably)
    }
    #expect(stillFull?.code == .full)

    try disk.makeRoom()
    try await store.save(Batch(.morning, states: [third: AppState(isForeground: true)]), durably: durably)
    let (reopened, again) = try RefreshStore.open(disk.scratch)
    #expect(
      again.states == [
        first: AppState(), second: AppState(isLoggedOut: true), third: AppState(isForeground: true),
      ])
    let ids = try await reopened.history(of: second, limit: .max).map(\.id)
    #expect(ids == records.suffix(ids.count).reversed().map(\.id))
    #expect(ids.count >= min(records.count, HistoryBound.depth))
    #expect(again.device == DeviceState(pause: .untilResumed))
    let waits = try await reopened.waits(of: second, limit: .max)
    #expect(waits.first == StoredWait(.made(records.count, of: second), wallOffset: BootClock.morning.wallOffset))
    #expect(waits.count == ids.count)
  }

  @Test func `the daemon starts on a full disk and writes when there is room`() async throws {
    let disk = try TinyDisk()
    let (todo, mail) = (try app("todo"), try app("mail"))
    let states = [todo: AppState(lastStart: BootClock.morning.now), mail: AppState(freshAt: BootClock.morning.now)]
    let (before, _) = try RefreshStore.open(disk.scratch)
    try await before.save(Batch(.morning, states: states), durably: true)
    await before.close()
    try disk.fill()

    // After a reboot, so that every state has to be written again.
    let now = BootClock.boot("b", age: .minutes(1), wallNow: BootClock.morning.wall + .hours(1))
    let moved = try await startOnFullDisk(disk, clock: now, change: [mail: AppState()])
    #expect(moved[todo]?.lastStart?.duration(to: now.now) == .hours(1))

    let (_, again) = try RefreshStore.open(disk.scratch, clock: now)
    #expect(again.start == 3)
    #expect(again.previous == .sameBoot)
    #expect(again.states == [todo: try #require(moved[todo]), mail: AppState()])
  }

  /// Starts on a full disk, makes room, saves `change`; gives the states that were loaded.
  private func startOnFullDisk(
    _ disk: TinyDisk, clock: BootClock, change: [AppID: AppState]
  ) async throws -> [AppID: AppState] {
    let (store, loaded) = try RefreshStore.open(disk.scratch, clock: clock)
    #expect(loaded.unsaved?.code == .full)
    #expect(loaded.start == 2)
    await #expect(throws: StoreError.self) { try await store.save(Batch(clock), durably: true) }
    try disk.makeRoom()
    try await store.save(Batch(clock, states: change), durably: true)
    await store.close()
    return loaded.states
  }

  @Test func `a file system that is read-only is refused with the remedy`() async throws {
    let disk = try TinyDisk()
    await (try RefreshStore.open(disk.scratch)).0.close()
    try disk.makeReadOnly()
    let error = #expect(throws: StoreError.self) { try RefreshStore.open(disk.scratch) }
    #expect(error?.code == .readOnly, "\(String(describing: error))")
    #expect(error?.description.contains("let refreshd's user write the file and its directory") == true)
  }
}

/// A file system of its own with room for a small store.
private final class TinyDisk {
  let scratch: ScratchDirectory
  private static let kibibytes = 512

  init() throws {
    scratch = try ScratchDirectory()
    try #require(
      mount("tmpfs", scratch.path, "tmpfs", 0, "size=\(Self.kibibytes)k") == 0,
      "cannot mount a tmpfs (\(String(cString: strerror(errno)))): run the tests as root")
  }

  deinit { umount2(scratch.path, Int32(MNT_DETACH)) }

  /// Takes all the room that is left.
  func fill() throws {
    let file = try #require(fopen("\(scratch.path)/ballast", "w"))
    setvbuf(file, nil, _IONBF, 0)
    let block = [UInt8](repeating: 1, count: 4096)
    while fwrite(block, 1, block.count, file) == block.count {}
    try #require(errno == ENOSPC)
    fclose(file)
  }

  func makeRoom() throws { try #require(unlink("\(scratch.path)/ballast") == 0) }

  func makeReadOnly() throws {
    try #require(mount("tmpfs", scratch.path, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
  }
}
