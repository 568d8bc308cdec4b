import Testing

@testable import RefreshEngine

/// The memory of each app; a machine may have many thousands of apps.
struct AppWeightTests {
  @Test func `An app without rare parts takes 128 bytes`() {
    #expect(MemoryLayout<App>.stride <= 128)
  }

  @Test func `The learners of an app take 724 bytes`() {
    #expect(MemoryLayout<Learned?>.stride <= 724)
  }

  @Test func `The record of a task takes 64 bytes`() {
    #expect(MemoryLayout<TaskRecord>.stride <= 64)
  }

  @Test func `A rounded number is at most 8 off, and its neighbours stay`() {
    let numbers = (0..<144).map { UInt16($0 * 456 + $0 % 16) }
    let rounded = RoundedNumbers<216>(numbers)
    #expect(rounded.count == numbers.count)
    #expect(zip(rounded, numbers).allSatisfy { abs(Int($0) - Int($1)) <= 8 })
    #expect(RoundedNumbers<216>(Array(rounded)) == rounded)
    #expect(RoundedNumbers<3>([.max, 7]).elementsEqual([65_520, 0]))
  }

  @Test(arguments: [0, 1, 2, 3, 47, 48, 49, 1000]) func `Each of many apps is found by its id`(count: Int) throws {
    let ids = try (0..<count).map { try #require(AppID("org.example.app\($0)")) }
    let table = AppTable(
      restoring: Dictionary(uniqueKeysWithValues: ids.map { ($0, AppState()) }), learned: [:])
    for id in ids { #expect(table.index(of: id).map { table.id(at: $0) } == id) }
    #expect(table.index(of: try #require(AppID("org.example.other"))) == nil)
  }
}
