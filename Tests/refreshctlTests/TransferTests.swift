import RefreshAPI
import Testing

@testable import refreshctl

private func transfer(
  _ id: Int64, _ state: Wire.TransferState, app: String = "org.example.todo", direction: Wire.Direction = .download,
  path: String = "/srv/debian.iso", description: String? = nil, holds: [Wire.Hold]? = nil, until: Int64? = nil,
  bytes: Int64 = 0, total: Int64? = nil, rate: Int64? = nil, attempts: Int64 = 1, message: String? = nil,
  result: Wire.TransferResult? = nil, ended: Int64? = nil
) -> Wire.Transfer {
  Wire.Transfer(
    id: id, app: app, session: "default", direction: direction, url: "https://example.org/debian.iso", path: path,
    description: description, state: state, holds: holds, untilMicroseconds: until, bytes: bytes, total: total,
    rate: rate, attempts: attempts, message: message, result: result, priority: 0, network: .unmetered,
    enqueuedMicroseconds: noon - span(h: 1), endedMicroseconds: ended)
}

@Suite struct TransferTests {
  private let several = [
    transfer(8, .transferring, bytes: 1_200_000_000, total: 2_400_000_000, rate: 12_000_000),
    transfer(
      9, .transferring, direction: .upload, path: "/srv/a.tar", bytes: 3_400_000, message: "there is no user bus"),
    transfer(
      10, .waiting, description: "Song of the day", until: noon + span(m: 4), bytes: 500, total: 1000,
      message: "HTTP status 503"),
    transfer(
      11, .waiting, holds: [Wire.Hold(name: "network", remedy: "wait for a network that is not metered")], attempts: 0),
    transfer(12, .paused, bytes: 1000, total: 4000),
    transfer(13, .ended, bytes: 3_400_000, total: 3_400_000, result: .done, ended: noon - span(h: 2)),
    transfer(14, .ended, message: "HTTP status 404", result: .failed, ended: noon - span(m: 5)),
  ]

  @Test func eachTransferIsALineWithItsProgressOrItsHold() {
    #expect(
      screen().text(several)
        == [
          "ID     WHAT             PROGRESS  BYTES             STATE",
          "8   ↓  debian.iso        50 %     1.2 GB of 2.4 GB  12 MB/s, 1 min 41 s left",
          "9   ↑  a.tar                      3.4 MB            starting: there is no user bus",
          "10  ↓  Song of the day   50 %     500 B of 1.0 kB   next attempt today 12:04:00: HTTP status 503",
          "11  ↓  debian.iso                                   held: network (wait for a network that is not metered)",
          "12  ↓  debian.iso        25 %     1.0 kB of 4.0 kB  paused; `refreshctl resume-transfer 12`",
          "13  ↓  debian.iso       100 %     3.4 MB            done 2 h ago",
          "14  ↓  debian.iso                                   failed 5 min ago: HTTP status 404",
        ])
    #expect(screen().text([Wire.Transfer]()) == ["There are no transfers."])
  }

  @Test func aBarFitsTheWidthOfTheTerminal() {
    #expect(screen(width: 90).text(several)[1].contains("█████░░░░░  50 %"))
    #expect(screen(width: 80).text(several)[1].hasSuffix(" ███░░░  50 %  1.2 GB of 2.4 GB  12 MB/s, 1 min 41 s left"))
    #expect(
      screen(width: 78).text(several)[1].hasSuffix("iso        50 %     1.2 GB of 2.4 GB  12 MB/s, 1 min 41 s left"))
  }

  @Test(arguments: [40, 60, 80, 100, 140]) func noLineIsWiderThanTheTerminal(width: Int) {
    let wide = several + [transfer(15, .waiting, description: "写真アルバムの写真がたくさん")]
    for line in screen(width: width).text(wide) { #expect(TextWidth.of(line) <= width, "\(line)") }
    for line in screen(width: width).board(wide, height: 10) { #expect(TextWidth.of(line) <= width, "\(line)") }
    #expect(screen(width: width).board(wide, height: 10).count < 10)
  }

  @Test func theAppIsShownIfThereAreSeveral() {
    let lines = screen().text([transfer(1, .waiting), transfer(2, .waiting, app: "org.x.b")])
    #expect(
      lines == [
        "ID  APP                  WHAT        PROGRESS  BYTES  STATE",
        "1   org.example.todo  ↓  debian.iso                   waiting for its turn",
        "2   org.x.b           ↓  debian.iso                   waiting for its turn",
      ])
  }

  @Test(
    arguments: [
      (0, "░░░░"), (0.001, "▌░░░"), (0.25, "█░░░"), (0.4, "█▌░░"), (0.999, "███▌"), (1, "████"), (2, "████"),
    ] as [(Double, String)])
  func aBarIsFullOnlyWhenAllIsDone(share: Double, bar: String) {
    #expect(ProgressBar.text(share, columns: 4) == bar)
  }

  @Test(arguments: [(0, "  0 %"), (0.527, " 52 %"), (0.9999, " 99 %"), (1, "100 %")] as [(Double, String)])
  func thereIsNoHundredPercentBeforeTheEnd(share: Double, text: String) {
    #expect(ProgressBar.percent(share) == text)
  }

  @Test func aTableThatIsUpdatedInPlaceFitsTheTerminalAndShowsActiveTransfers() {
    let many = (1...20).map { transfer($0, $0 == 7 ? .transferring : .ended, result: $0 == 7 ? nil : .done) }
    let lines = screen(width: 80).board(many, height: 8)
    #expect(lines.count == 7)
    #expect(lines.last == "and 15 more")
    #expect(lines.map { $0.prefix(2) } == ["ID", "7 ", "17", "18", "19", "20", "an"])
  }

  @Test func aLineOfOneTransferHasTheTimeAndTheState() {
    #expect(screen().line(several[6]) == "today 12:00:00  14 debian.iso: failed: HTTP status 404")
    #expect(screen().line(several[0]) == "today 12:00:00  8 debian.iso: transferring (1.2 GB of 2.4 GB)")
  }

  @Test(arguments: [
    ("https://example.org/a/b.iso?x=/y", "b.iso"), ("https://example.org/a/", ""), ("https://example.org", ""),
    ("https://example.org/a/..", ""), ("b.iso", ""),
  ])
  func theFileIsNamedByTheEndOfTheURL(url: String, name: String) {
    #expect(WholePath.fileName(of: url) == name)
  }

  @Test("only a plain file can be uploaded", arguments: [("/", "a folder"), ("/dev/null", "not a plain file")])
  func onlyAPlainFileCanBeUploaded(path: String, kind: String) {
    let refusal = #expect(throws: Failure.self) { try WholePath.plainFile(path) }
    #expect(refusal?.status == .usage && refusal?.text == "cannot upload \(path): it is \(kind); name a file")
  }
}
