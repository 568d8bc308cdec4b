import RefreshAPI

// What a worker tells comes from a server at last, which may say anything: here it is bounded, before anything is
// reckoned with or saved.

extension Wire.TransferReport {
  /// The same with every number and every text within its bounds; a text that is longer is left out.
  var bounded: Wire.TransferReport {
    Wire.TransferReport(
      id: id, kind: kind, resume: resume?.bounded, bytes: bytes.map(ReportBounds.number),
      total: total.map(ReportBounds.number), end: end,
      retryAfterMicroseconds: retryAfterMicroseconds.map(ReportBounds.number),
      needed: needed.map(ReportBounds.number), sha256: sha256.flatMap { ReportBounds.text($0, most: 64) },
      message: message)
  }
}

extension Wire.Resume {
  fileprivate var bounded: Wire.Resume {
    Wire.Resume(
      url: url.flatMap { ReportBounds.text($0, most: ReportBounds.longestURL) },
      etag: etag.flatMap { ReportBounds.text($0, most: ReportBounds.longestValidator) },
      lastModified: lastModified.flatMap { ReportBounds.text($0, most: ReportBounds.longestValidator) },
      date: date.flatMap { ReportBounds.text($0, most: ReportBounds.longestValidator) },
      total: total.map(ReportBounds.number), durable: ReportBounds.number(durable),
      // No boot has no name: what was written in an unknown one is not taken for durable.
      boot: ReportBounds.text(boot, most: 64) ?? "",
      tusURL: tusURL.flatMap { ReportBounds.text($0, most: ReportBounds.longestURL) }, partMark: partMark)
  }
}

/// How much of anything a worker may tell.
enum ReportBounds {
  /// The most bytes or microseconds: what the store reads back, and sums of a few cannot overflow.
  static let greatest: Int64 = 1 << 60
  /// The most bytes of a header that is kept: a server may send any text.
  static let longestValidator = 4096
  /// The most bytes of a URL that a server gave.
  static let longestURL = 8192

  /// The nearest number that there may be.
  static func number(_ number: Int64) -> Int64 { min(max(0, number), greatest) }

  /// The text, if it is not too long.
  static func text(_ text: String, most: Int) -> String? { text.utf8.count <= most ? text : nil }
}
