import Testing

@testable import RefreshEngine

/// The memory of each app; a machine may have many thousands of apps.
struct AppWeightTests {
  @Test func `An app without rare parts takes 128 bytes`() {
    #expect(MemoryLayout<App>.stride <= 128)
  }

  @Test func `The learners of an app take 816 bytes`() {
    #expect(MemoryLayout<Learned?>.stride <= 816)
  }

  @Test func `The record of a task takes 72 bytes`() {
    #expect(MemoryLayout<TaskRecord>.stride <= 72)
  }

  @Test(arguments: [0, 1, 2, 3, 47, 48, 49, 1000]) func `Each of many apps is found by its id`(count: Int) throws {
    let ids = try (0..<count).map { try #require(AppID("org.example.app\($0)")) }
    let storage = AppStorage(
      restoring: Dictionary(uniqueKeysWithValues: ids.map { ($0, AppState()) }), learned: [:])
    for id in ids { #expect(storage.index(of: id).map { storage.id(at: $0) } == id) }
    #expect(storage.index(of: try #require(AppID("org.example.other"))) == nil)
  }
}
