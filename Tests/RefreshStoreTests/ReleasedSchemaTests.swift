import Glibc
import Testing

@testable import RefreshEngine
@testable import RefreshStore

/// A file of every released schema loads forever, with the values that its release wrote.
///
/// `Fixtures/schema-N.sql` is what `sqlite3 refreshd.db .dump` printed of a file that the release with schema N wrote
/// with exactly these values, and its `PRAGMA user_version`. Fixtures are added, never edited.
@Suite struct ReleasedSchemaTests {
  /// A file of a released schema, and the values that its release wrote.
  struct Release: CustomTestStringConvertible, Sendable {
    let schema: Int
    let dump: [UInt8]
    let values: @Sendable () throws -> StoredValues

    var testDescription: String { "schema \(schema)" }
  }

  static let releases = [
    Release(schema: 16, dump: PackageResources.schema_16_sql, values: StoredValues.ofSchema16)
  ]

  @Test(arguments: releases)
  func `a released file loads with its exact values`(release: Release) async throws {
    let scratch = try ScratchDirectory()
    try scratch.sql(String(decoding: release.dump, as: UTF8.self))
    let values = try release.values()

    var now = StoredValues.clock
    now.now = now.now.advanced(by: .minutes(1))
    let (store, loaded) = try RefreshStore.open(scratch, clock: now)
    #expect(loaded.damaged == nil)
    #expect(loaded.start == 2)
    #expect(loaded.previous == .sameBoot)
    #expect(loaded.states == values.states)
    #expect(loaded.device == values.device)
    #expect(loaded.learned == values.learned)
    #expect(loaded.transfers == values.transfers)
    #expect(loaded.lastTransfer == UInt64(values.transfers.count))
    #expect(loaded.validators == values.validators)
    #expect(loaded.pushes == values.pushes)
    #expect(loaded.lastPush == values.pushes.values.joined().map(\.id.number).max() ?? 0)
    let todo = try app("todo")
    let offset = StoredValues.clock.wallOffset
    #expect(try await store.openings(of: todo) == values.storedOpenings.reversed())
    let refreshes = values.refreshes.reversed().map { StoredRefresh($0, wallOffset: offset) }
    #expect(try await store.history(of: todo, limit: .max) == refreshes)
    let waits = values.waits.reversed().map { StoredWait($0, wallOffset: offset) }
    #expect(try await store.waits(of: todo, limit: .max) == waits)
    let dropped = values.droppedPushes.reversed().map { StoredDroppedPush($0, wallOffset: offset) }
    #expect(try await store.droppedPushes(of: todo, limit: .max) == dropped)
    #expect(try scratch.number("PRAGMA user_version") == Int64(Schema.version))
  }

  /// With `FIXTURE_DATABASE=PATH` in the environment it also keeps the file of today, to dump a fixture from it.
  @Test func `what is written today fits the newest fixture`() async throws {
    let newest = try #require(Self.releases.last)
    #expect(newest.schema == Schema.version)
    let (today, fixture) = (try ScratchDirectory(), try ScratchDirectory())
    let (store, _) = try RefreshStore.open(today, clock: StoredValues.clock)
    try await store.save(try newest.values().batch, durably: true)
    await store.close()
    if let path = getenv("FIXTURE_DATABASE") { try today.sql("VACUUM INTO '\(String(cString: path))'") }
    try fixture.sql(String(decoding: newest.dump, as: UTF8.self))

    let tables = "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name)"
    #expect(try today.text(tables) == fixture.text(tables))
    // Added columns come last in a migrated file, and the order of new apps is not fixed.
    for table in try fixture.text(tables).split(separator: ",") where !table.hasPrefix("sqlite_") {
      let columns = """
        SELECT group_concat(c) FROM (
          SELECT name || ' ' || type || ' ' || "notnull" || ifnull(dflt_value, '-') || pk AS c
          FROM pragma_table_info('\(table)') ORDER BY name
        )
        """
      #expect(try today.text(columns) == fixture.text(columns))
      let names = try fixture.text("SELECT group_concat(name) FROM pragma_table_info('\(table)')").split(separator: ",")
      for name in names.sorted() where table != "app" || name != "key" {
        let value = name == "app" ? "(SELECT id FROM app WHERE key = t.app)" : "t.\(name)"
        let contents = "SELECT group_concat(v) FROM (SELECT quote(\(value)) AS v FROM \(table) AS t ORDER BY v)"
        #expect(try today.text(contents) == fixture.text(contents), "\(table).\(name)")
      }
    }
    let others = """
      SELECT group_concat(sql) FROM (SELECT sql FROM sqlite_schema WHERE type IN ('index', 'view') ORDER BY name)
      """
    #expect(try today.text(others) == fixture.text(others))
  }

  @Test(arguments: [1, 14])
  func `the file of an unreleased build is set aside, with a sentence`(version: Int) async throws {
    let scratch = try ScratchDirectory()
    try scratch.sql("CREATE TABLE app (key INTEGER); PRAGMA user_version = \(version)")
    let (store, loaded) = try RefreshStore.open(scratch)
    let aside = "\(scratch.database).unreleased-1749945600"
    #expect(loaded.damaged?.code == .unreleased)
    #expect(
      loaded.damaged?.description
        == "cannot use \(scratch.database): a build before the first release wrote it (schema \(version), the first "
        + "release began with 16); every app is refreshed as if it were new; it is now \(aside), and refreshd starts with a new file"
    )
    #expect(loaded.start == 1 && loaded.previous == .firstStart)
    #expect(scratch.names.contains("refreshd.db.unreleased-1749945600"))
    let todo = try app("todo")
    try await store.save(Batch(.morning, states: [todo: AppState(isForeground: true)]), durably: true)
    let (_, again) = try RefreshStore.open(scratch)
    #expect(again.damaged == nil)
    #expect(again.states[todo]?.isForeground == true)
  }
}
