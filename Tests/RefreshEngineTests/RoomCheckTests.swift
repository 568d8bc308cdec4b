import Testing

@testable import RefreshEngine

@Suite struct RoomCheckTests {
  private func at(_ seconds: Int64) -> Instant { Instant(microseconds: seconds * 1_000_000) }

  @Test func `Folders are looked at every ten seconds while a transfer waits`() {
    var check = RoomCheck()
    #expect(check.wake == nil)
    check.add(TransferID(1), path: "/data/a/film", needed: 100, at: at(0))
    check.add(TransferID(2), path: "/film", needed: 50, at: at(0))
    #expect(check.wake == at(10) && check.begin(at: at(9)).isEmpty)
    #expect(
      check.begin(at: at(10)) == [
        RoomCheck.Look(folder: "/", needs: [TransferID(2): 50]),
        RoomCheck.Look(folder: "/data/a", needs: [TransferID(1): 100]),
      ])
    check.remove(TransferID(1))
    #expect(check.begin(at: at(20)).map(\.folder) == ["/"])
    check.remove(TransferID(2))
    #expect(check.wake == nil && check.begin(at: at(60)).isEmpty)
  }

  @Test func `A folder that does not answer delays no other one`() {
    var check = RoomCheck()
    check.add(TransferID(1), path: "/gone/film", needed: 1, at: at(0))
    check.add(TransferID(2), path: "/here/film", needed: 1, at: at(0))
    var claims: [Bool] = []
    for look in check.begin(at: at(10)) { claims.append(check.claim(look.folder)) }
    claims.append(check.claim("/gone"))
    #expect(claims == [true, true, false])
    check.end("/here")
    #expect(check.begin(at: at(20)).map(\.folder) == ["/here"])
    check.end("/gone")
    #expect(check.begin(at: at(30)).count == 2)
  }

  @Test func `A transfer whose need is told again and again does not put off the look`() {
    var check = RoomCheck()
    for seconds: Int64 in [0, 9] { check.add(TransferID(1), path: "/film", needed: 1, at: at(seconds)) }
    #expect(check.wake == at(10))
  }

  @Test func `A hundredth of the disk stays free`() {
    let needs = [TransferID(1): Int64(89), TransferID(2): 90, TransferID(3): 10]
    #expect(RoomCheck.roomy(needs, available: 100, size: 1000) == [TransferID(1), TransferID(3)])
  }

  @Test func `Where a file system reports no size, it is tried`() {
    #expect(RoomCheck.roomy([TransferID(1): Int64(1) << 40], available: 0, size: 0) == [TransferID(1)])
  }
}
