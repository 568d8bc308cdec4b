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
    var openings: [StoredOpening] = []
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
      testDescription: "schema 7", dump: PackageResources.schema_7_sql, states: statesOfSchema7,
      device: deviceOfSchema3, learned: learned, openings: openings, waits: { try waits(for: Hold.Name.released) },
      records: recordsOfSchema7, transfers: transfers, validators: validators, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 8", dump: PackageResources.schema_8_sql, states: statesOfSchema8,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) },
      records: recordsOfSchema7, transfers: transfers, validators: validators, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 9", dump: PackageResources.schema_9_sql, states: statesOfSchema8,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema9,
      validators: validators, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 10", dump: PackageResources.schema_10_sql, states: statesOfSchema10,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema9,
      validators: validators, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 11", dump: PackageResources.schema_11_sql, states: statesOfSchema11,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema9,
      validators: validators, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 12", dump: PackageResources.schema_12_sql, states: statesOfSchema11,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema9,
      validators: validatorsOfSchema12, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 13", dump: PackageResources.schema_13_sql, states: statesOfSchema11,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema13,
      validators: validatorsOfSchema12, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 14", dump: PackageResources.schema_14_sql, states: statesOfSchema11,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema13,
      validators: validatorsOfSchema12, pushes: pushes, dropped: droppedPushes),
    Release(
      testDescription: "schema 15", dump: PackageResources.schema_15_sql, states: statesOfSchema15,
      device: deviceOfSchema3, learned: learned, openings: openingsOfSchema8,
      waits: { try waits(for: Hold.Name.released) }, records: recordsOfSchema7, transfers: transfersOfSchema13,
      validators: validatorsOfSchema12, pushes: pushes, dropped: droppedPushes),
  ]

  /// The same states with what schema 15 has more.
  static func statesOfSchema15() throws -> [AppID: AppState] {
    var states = try statesOfSchema11()
    states[try app("todo")]?.isOwnerPresent = true
    states[try app("mail")]?.isOwnerPresent = false
    return states
  }

  /// The same validators with what schema 12 has more.
  static func validatorsOfSchema12() throws -> [AppID: [String: Validator]] {
    var validators = try validators()
    validators[try app("news")]?["https://example.org/feed"]?.finalURL = "https://cdn.example.org/näher"
    return validators
  }

  /// The same states with what schema 10 has more.
  static func statesOfSchema10() throws -> [AppID: AppState] {
    var states = try statesOfSchema8()
    states[try app("mail")]?.keptUnit = "syncthing.service of user 1000"
    return states
  }

  /// The same states with what schema 11 has more.
  static func statesOfSchema11() throws -> [AppID: AppState] {
    var states = try statesOfSchema10()
    states[try app("todo")]?.streak = FailureStreak(count: 1)
    states[try app("todo")]?.skipsAll = true
    states[try app("mail")]?.streak = FailureStreak(count: 7)
    states[try app("mail")]?.streak?.isReported = true
    return states
  }

  /// The same transfers; some have the Flatpak that schema 13 adds.
  static func transfersOfSchema13() throws -> [TransferID: StoredTransfer] {
    var transfers = try transfersOfSchema9()
    for id in transfers.keys where id.number.isMultiple(of: 2) { transfers[id]?.request.flatpak = "org.example.Todo" }
    return transfers
  }

  /// The same transfers; some have the owner that schema 9 adds.
  static func transfersOfSchema9() throws -> [TransferID: StoredTransfer] {
    var transfers = try transfers()
    for id in transfers.keys where id.number.isMultiple(of: 2) { transfers[id]?.request.owner = 1_000 }
    return transfers
  }

  // MARK: - The additions of schema 8

  /// The same states with the additions of schema 8.
  static func statesOfSchema8() throws -> [AppID: AppState] {
    var states = try statesOfSchema7()
    states[try app("todo")]?.running?.isForced = true
    states[try app("mail")]?.isForced = true
    return states
  }

  /// The same openings; a desktop showed the second one and its end.
  static let openingsOfSchema8 = {
    var spans = openings
    spans[1].isObserved = true
    spans[1].endWallMicroseconds = clock.wall(Instant(microseconds: 83_000_000_000))
    return spans
  }()

  /// The changes that make these openings.
  static func openingsMade() throws -> [Opening] {
    let todo = try app("todo")
    return [
      Opening(app: todo, at: Instant(microseconds: 81_000_000_000)),
      Opening(app: todo, at: Instant(microseconds: 82_000_000_000), change: .began(isObserved: true)),
      Opening(app: todo, at: Instant(microseconds: 83_000_000_000), change: .ended),
    ]
  }

  // MARK: - The additions of schema 7

  /// The same states with the additions of schema 7.
  static func statesOfSchema7() throws -> [AppID: AppState] {
    var states = try statesOfSchema6()
    states[try app("todo")]?.episode = HeldEpisode(since: Instant(microseconds: -8_000_000))
    states[try app("mail")]?.episode = HeldEpisode(since: Instant(microseconds: 77_000_000_000))
    states[try app("mail")]?.episode?.isReported = true
    return states
  }

  /// The same refreshes with what schema 7 has more.
  static func recordsOfSchema7() throws -> [RefreshRecord] {
    var records = try recordsOfSchema6()
    let at = Instant(microseconds: 86_399_900_000)
    records.append(
      RefreshRecord(
        id: RefreshID(start: 1, number: 90), app: try app("todo"), trigger: .reported, startedAt: at, endedAt: at,
        outcome: .newData))
    return records
  }

  // MARK: - The additions of schema 6

  /// The same states with the additions of schema 6.
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

  /// The stored messages: a push, and a push that woke no app.
  static func seen() throws -> [ArrivedPush] {
    [
      ArrivedPush(id: PushID(90), app: try app("todo"), push: nil, message: "ntfy/home/it's"),
      ArrivedPush(id: PushID(91), app: try app("news"), push: nil, message: "mqtt/broker/1/näher"),
    ]
  }
}

extension Hold.Name {
  /// The names that the releases wrote into the fixtures.
  static let released = allCases.filter {
    ![.misconfigured, .mounted, .present, .reachable, .when, .unsteady, .wakeLimit].contains($0)
  }
}

extension Trigger {
  /// The triggers that the releases wrote into the fixtures up to schema 6.
  static let released = allCases.filter { ![.reported, .change].contains($0) }
}
