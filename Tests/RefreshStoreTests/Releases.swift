import RefreshEngine
import Testing

@testable import RefreshStore

extension ReleasedSchemaTests {
  /// A file of a released schema, and the values that its release wrote.
  struct Release: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let dump: [UInt8]
    let states: @Sendable () throws -> [AppID: AppState]
    var device = DeviceState()
    var learned: @Sendable () throws -> [AppID: Learned] = { [:] }
    var openings: [Int64] = []
    var waits: @Sendable () throws -> [WaitRecord] = { [] }
    var records: @Sendable () throws -> [RefreshRecord] = { try ReleasedSchemaTests.records() }
    var transfers: @Sendable () throws -> [TransferID: StoredTransfer] = { [:] }
    var validators: @Sendable () throws -> [AppID: [String: Validator]] = { [:] }
    var pushes: @Sendable () throws -> [AppID: [Push]] = { [:] }
    var dropped: @Sendable () throws -> [DroppedPush] = { [] }
  }

  static let releases = [
    Release(testDescription: "schema 1", dump: PackageResources.schema_1_sql, states: states),
    Release(
      testDescription: "schema 2", dump: PackageResources.schema_2_sql, states: statesOfSchema2, device: device,
      waits: { try waits() }),
    Release(
      testDescription: "schema 3", dump: PackageResources.schema_3_sql, states: statesOfSchema3,
      device: deviceOfSchema3, learned: learned, openings: openings, waits: { try waits() }),
    Release(
      testDescription: "schema 4", dump: PackageResources.schema_4_sql, states: statesOfSchema4,
      device: deviceOfSchema3, learned: learned, openings: openings, waits: { try waits(for: Hold.Name.released) },
      records: recordsOfSchema4),
    Release(
      testDescription: "schema 5", dump: PackageResources.schema_5_sql, states: statesOfSchema5,
      device: deviceOfSchema3, learned: learned, openings: openings, waits: { try waits(for: Hold.Name.released) },
      records: recordsOfSchema4, transfers: transfers, validators: validators),
    Release(
      testDescription: "schema 6", dump: PackageResources.schema_6_sql, states: statesOfSchema6,
      device: deviceOfSchema3, learned: learned, openings: openings, waits: { try waits(for: Hold.Name.released) },
      records: recordsOfSchema6, transfers: transfers, validators: validators, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 7", dump: PackageResources.schema_7_sql, states: statesOfSchema6,
      device: deviceOfSchema3, learned: learned, openings: openings, waits: { try waits(for: Hold.Name.released) },
      records: recordsOfSchema6, transfers: transfers, validators: validators, pushes: pushes, dropped: droppedPushes),
  ]

  // MARK: - What schema 6 has more

  /// The same states with what schema 6 has more.
  static func statesOfSchema6() throws -> [AppID: AppState] {
    var states = try statesOfSchema5()
    states[try app("todo")]?.running?.push = PushID(3)
    states[try app("todo")]?.pushedAt = [-1, 78_000_000_000, 86_399_000_000].map(Instant.init(microseconds:))
    states[try app("mail")]?.isTerminated = true
    return states
  }

  /// The same refreshes with what schema 6 has more.
  static func recordsOfSchema6() throws -> [RefreshRecord] {
    var records = try recordsOfSchema4()
    records[0].push = DeliveredPush(contentID: "näher 🛰️", merged: 7)
    records[1].push = DeliveredPush(contentID: nil, merged: 0)
    return records
  }

  /// A push of each urgency, of two apps.
  static func pushes() throws -> [AppID: [Push]] {
    var pushes: [Push] = []
    for (number, urgency) in zip(UInt64(3)..., Urgency.allCases) {
      var push = Push(
        id: PushID(number), payload: #"{"aps":{"content-available":1},"it's":"näher 🛰️"}"#,
        contentID: number.isMultiple(of: 2) ? nil : "it's \(number)", urgency: urgency,
        at: Instant(microseconds: 98_000_000_000 + Int64(number)))
      push.earliest = Instant(microseconds: Int64(number) - 99_000_000_000)
      (push.attempts, push.merged) = (Int32(number) - 3, Int32(number))
      pushes.append(push)
    }
    return [try app("todo"): Array(pushes.prefix(3)), try app("news"): Array(pushes.suffix(1))]
  }

  static func droppedPushes() throws -> [DroppedPush] {
    [
      DroppedPush(
        id: PushID(1), app: try app("todo"), contentID: "näher 🛰️", arrivedAt: Instant(microseconds: -1_000_000),
        droppedAt: Instant(microseconds: 2_000_000), merged: 9),
      DroppedPush(
        id: PushID(2), app: try app("todo"), contentID: nil, arrivedAt: Instant(microseconds: 1_000_000),
        droppedAt: Instant(microseconds: 2_000_000), merged: 0),
    ]
  }

  /// The messages that were taken, of a push and of one that woke nobody.
  static func seen() throws -> [ArrivedPush] {
    [
      ArrivedPush(id: PushID(90), app: try app("todo"), push: nil, message: "ntfy/home/it's"),
      ArrivedPush(id: PushID(91), app: try app("news"), push: nil, message: "mqtt/broker/1/näher"),
    ]
  }
}

extension Hold.Name {
  /// The names that the releases wrote into the fixtures.
  static let released = allCases.filter { $0 != .misconfigured }
}
