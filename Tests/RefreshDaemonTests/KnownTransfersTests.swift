import RefreshEngine
import RefreshStore
import Testing

@testable import RefreshDaemon

/// The facts about transfers that the daemon holds in addition to the engine.
@Suite struct KnownTransfersTests {
  private let app: AppID

  init() throws { app = try #require(AppID("org.example.todo")) }

  private func stored(
    session: String = "photos", notice: String? = nil, stage: TransferState.Stage = .transferring
  ) -> StoredTransfer {
    var request = TransferRequest(.download, url: "https://example.org/a", path: "/a")
    request.notice = notice
    let policy = TransferPolicy(
      session: TransferSession(app: app, name: session), host: "example.org", enqueuedAt: Instant(microseconds: 0))
    return StoredTransfer(state: TransferState(policy: policy, stage: stage), request: request)
  }

  @Test func theRateIsWhatWasMovedInASecondOfLate() {
    var speed = KnownTransfers.Speed(bytes: 0, at: Instant(microseconds: 0))
    #expect(speed.rate == nil)
    speed.note(1_000_000, at: Instant(microseconds: 1_000_000))
    #expect(speed.rate == 1_000_000)
    speed.note(4_000_000, at: Instant(microseconds: 2_000_000))
    #expect(speed.rate == 2_000_000)
    // A moment is too short to tell.
    speed.note(9_000_000, at: Instant(microseconds: 2_000_001))
    #expect(speed.rate == 2_000_000)
  }

  @Test func aNumberIsGreaterThanAllThatEverWere() {
    var transfers = KnownTransfers([TransferID(3): stored()], last: 7)
    #expect([transfers.makeID(), transfers.makeID()] == [TransferID(8), TransferID(9)])
  }

  @Test func `The transfers of an app that was removed count for the owner that asked last`() {
    var (first, second) = (stored(), stored())
    (first.request.owner, second.request.owner) = (1_000, 1_001)
    let transfers = KnownTransfers([TransferID(2): second, TransferID(1): first, TransferID(3): stored()], last: 3)
    #expect(transfers.shares[app]?.owner == 1_001)
  }

  @Test func aSessionHasTheLastWordsThatWereGivenForItAndOnce() {
    var transfers = KnownTransfers(
      [
        TransferID(1): stored(notice: "first"), TransferID(2): stored(notice: "second"), TransferID(3): stored(),
        TransferID(4): stored(
          session: "old", notice: "told before", stage: .ended(.done, at: Instant(microseconds: 1))),
      ], last: 4)
    transfers.add(TransferID(5), stored(session: "songs", notice: "songs"))
    transfers.noteWords(of: stored(session: "songs", notice: "songs"))
    let sessions = ["photos", "songs", "old"].map { TransferSession(app: app, name: $0) }
    for session in sessions { transfers.noteEnd(in: session, .done) }
    #expect(transfers.takeWords(of: sessions[0]) == "second")
    #expect(transfers.takeWords(of: sessions[0]) == nil)
    #expect(transfers.takeWords(of: sessions[1]) == "songs")
    #expect(transfers.takeWords(of: sessions[2]) == nil)
  }

  @Test func theWordsOfATransferThatHasEndedHoldForItsSession() {
    let ended = stored(notice: "Photos are there", stage: .ended(.failed, at: Instant(microseconds: 1)))
    var transfers = KnownTransfers([TransferID(1): ended, TransferID(2): stored()], last: 2)
    let photos = TransferSession(app: app, name: "photos")
    transfers.noteEnd(in: photos, .done)
    #expect(transfers.takeWords(of: photos) == "Photos are there (1 of 2 failed)")
  }

  @Test(
    arguments: [
      ([.done], "Here"), ([.done, .cancelled], "Here"), ([.failed], "Here (failed)"),
      ([.expired, .cancelled, .done, .failed], "Here (2 of 3 failed)"), ([.cancelled], nil),
    ] as [([TransferResult], String?)])
  func theDesktopHearsHowManyHaveFailed(results: [TransferResult], text: String?) {
    var notice = TransferSessionNotice(words: "Here")
    for result in results { notice.note(result) }
    #expect(notice.text == text)
  }

  @Test func whereNobodyCanTellWhetherThereIsRoomItIsTried() async {
    let reader = DiskSpaceReader()
    #expect(await reader.fitting([TransferID(1): 1], in: "/nonexistent") == [TransferID(1)])
    #expect(await reader.fitting([TransferID(1): 1, TransferID(2): 1 << 60], in: "/dev/shm") == [TransferID(1)])
  }
}
