import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The bounds on the pushes that the daemon holds at a time.
@Suite struct PushLedgerTests {
  /// A push of the app with a payload of so many bytes.
  private func kept(_ number: UInt64, _ bytes: Int, attempts: Int32 = 0) throws -> PushChange {
    var push = Push(
      id: PushID(number), payload: String(repeating: "x", count: bytes), contentID: nil, urgency: .normal,
      at: Instant(microseconds: 0))
    push.attempts = attempts
    return .kept(try #require(AppID("org.example.todo")), push)
  }

  /// Whether there is room for so many bytes, and not for one more.
  private func hasRoom(for bytes: Int, in pushes: PushLedger) -> Bool {
    var (enough, tooMuch) = (pushes, pushes)
    let answers = (enough.reserve(bytes), tooMuch.reserve(bytes + 1))
    return answers == (true, false)
  }

  @Test func `what waits, was left and is being saved may be so much in all`() throws {
    guard case .kept(let todo, let left) = try kept(1, 4_096) else { return }
    var pushes = PushLedger([todo: [left]], last: 1)
    #expect(hasRoom(for: PushLedger.mostBytes - 4_096, in: pushes))
    pushes.note(try kept(2, 1_000), of: PushID(2))
    // A newer payload has taken the place of the first.
    pushes.note(try kept(1, 96), of: PushID(1))
    #expect(hasRoom(for: PushLedger.mostBytes - 1_096, in: pushes))
    let isReserved = pushes.reserve(904)
    #expect(isReserved && hasRoom(for: PushLedger.mostBytes - 2_000, in: pushes))
    pushes.release(904)
    for id in [PushID(1), PushID(2), PushID(2)] { pushes.note(.gone, of: id) }
    #expect(pushes.apps.isEmpty && hasRoom(for: PushLedger.mostBytes, in: pushes))
  }

  @Test func `where others have taken all, each user has a share`() {
    var pushes = PushLedger([:], last: 0)
    let answers = [
      pushes.reserve(PushLedger.mostBytes), pushes.reserve(1, own: PushLedger.reservedBytes),
      pushes.reserve(PushLedger.reservedBytes, own: 0), pushes.reserve(PushLedger.reservedBytes, own: 1),
    ]
    #expect(answers == [true, false, true, false])
  }

  @Test func `what is gone has been told or has not`() throws {
    var pushes = PushLedger([:], last: 0)
    pushes.note(try kept(1, 2), of: PushID(1))
    pushes.note(try kept(2, 2), of: PushID(2))
    pushes.note(try kept(1, 2, attempts: 1), of: PushID(1))
    let told = [1, 2, 3].map { pushes.note(.gone, of: PushID($0))?.wasDelivered }
    #expect(told == [true, false, nil])
  }
}
