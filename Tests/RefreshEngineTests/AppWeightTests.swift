import Testing

@testable import RefreshEngine

/// The memory of each app.
struct AppWeightTests {
  @Test func `An app with its learners takes 1,800 bytes at most`() {
    #expect(MemoryLayout<App>.stride + MemoryLayout<AppHabits?>.stride <= 1800)
  }

  @Test func `A cost to come is at most 8 off`() {
    let numbers = (0..<144).map { UInt16($0 * 456 + $0 % 16) }
    let rounded = Future.rounded(numbers)
    #expect(rounded.count == numbers.count)
    #expect(zip(rounded, numbers).allSatisfy { abs(Int($0) - Int($1)) <= 8 })
    #expect(Future.rounded(Array(rounded)) == rounded)
    #expect(Future.rounded([.max, 7]).prefix(2).elementsEqual([65_520, 0]))
  }

  @Test(arguments: [0, 1, 2, 3, 47, 48, 49, 1000]) func `Each of many apps is found by its id`(count: Int) throws {
    let ids = try (0..<count).map { try #require(AppID("org.example.app\($0)")) }
    let table = AppTable(restoring: Dictionary(uniqueKeysWithValues: ids.map { ($0, AppState()) }))
    for id in ids { #expect(table.index(of: id).map { table.id(at: $0) } == id) }
    #expect(table.index(of: try #require(AppID("org.example.other"))) == nil)
  }
}
