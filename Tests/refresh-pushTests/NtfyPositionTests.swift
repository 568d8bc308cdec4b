import Testing

@testable import refresh_push

/// From which time the next connection to an ntfy server continues.
struct NtfyPositionTests {
  private static let opened: Int64 = 1_800_000_000

  /// A connection that goes on at a stored position.
  private func connection(_ stored: String?) -> NtfyPosition {
    var position = NtfyPosition(stored)
    position.open(at: Self.opened)
    return position
  }

  @Test func theFirstConnectionIsTheBeginning() {
    var position = connection(nil)
    #expect(position.since == "\(Self.opened)")
    position.append(Self.opened + 5)
    position.finishOldOnes()
    #expect(position.since == "\(Self.opened)")
  }

  @Test func whatComesLaterGoesBackByTheSlack() {
    var position = connection(nil)
    position.finishOldOnes()
    position.append(Self.opened + 5000)
    #expect(position.since == "\(Self.opened + 5000 - NtfyPosition.slack)")
    // A scheduled message that the server sends late.
    position.append(Self.opened + 4000)
    #expect(position.since == "\(Self.opened + 5000 - NtfyPosition.slack)")
  }

  @Test func aTimeThatIsYetToComeIsGivenUpWhenTheServersClockIsRight() {
    var position = connection("\(Self.opened + 86_400)")
    #expect(position.since == "\(Self.opened - NtfyPosition.slack)")
    position.finishOldOnes()
    position.append(Self.opened + 5000)
    #expect(position.since == "\(Self.opened + 5000 - NtfyPosition.slack)")
  }

  @Test func aNewMessageBetweenOldOnesDoesNotSkipThem() {
    var position = connection("\(Self.opened - 7200)")
    position.append(Self.opened - 7000)
    position.append(Self.opened + 1)
    position.append(Self.opened - 6900)
    #expect(position.since == "\(Self.opened - 7200)")
    position.finishOldOnes()
    #expect(position.since == "\(Self.opened + 1 - NtfyPosition.slack)")
  }

  @Test func theIDOfAnEarlierVersionIsUsedUntilATimeIsKnown() {
    var position = connection("hwQ2YpKdmg01")
    #expect(position.since == "hwQ2YpKdmg01")
    position.append(Self.opened - 7000)
    #expect(position.since == "hwQ2YpKdmg01")
    position.finishOldOnes()
    #expect(position.since == "\(Self.opened - NtfyPosition.slack)")
  }

  /// The daemon knows the last 1,000 ids of an app, so no message may come again that it has forgotten.
  @Test(arguments: [1, 10, 100])
  func killsAtAnyPlaceLoseNothingAndRepeatLessThanTheDaemonKnows(perSecond: Int) {
    var numbers = FuzzNumbers(seed: UInt64(perSecond))
    let times = (0..<5000).map { Self.opened - 5000 + Int64($0 / perSecond) }
    var stored: String? = "\(Self.opened - 5001)"
    var delivered: [Int] = []
    var seen: Set<Int> = []
    while seen.count < times.count {
      var position = connection(stored)
      let since = stored.flatMap { Int64($0) } ?? 0
      // Messages of the same second come in another order each time.
      let rows = times.indices.filter { times[$0] >= since }.shuffled(using: &numbers).sorted { times[$0] < times[$1] }
      for row in rows.prefix(Int.random(in: 400...1500, using: &numbers)) {
        if !seen.insert(row).inserted {
          #expect(delivered.suffix(1000).contains(row))
        } else {
          delivered.append(row)
        }
        position.append(times[row])
      }
      stored = position.since
    }
    #expect(delivered.count == times.count)
  }
}
