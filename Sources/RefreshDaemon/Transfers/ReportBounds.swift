import RefreshAPI

// Bounds a worker's report before it is used or saved, because parts of it come from a server.

extension Wire.TransferReport {
  /// The report with every number within its bounds, and without overlong texts.
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
      // No boot has an empty name, so these bytes do not count as durable.
      boot: ReportBounds.text(boot, most: 64) ?? "",
      tusURL: tusURL.flatMap { ReportBounds.text($0, most: ReportBounds.longestURL) }, partMark: partMark)
  }
}

/// The bounds of a worker's report.
enum ReportBounds {
  /// The greatest number of bytes or microseconds: the store can read it back, and small sums cannot overflow.
  static let greatest: Int64 = 1 << 60
  /// The most bytes of a header that is kept.
  static let longestValidator = 4096
  /// The most bytes of a URL that a server gave.
  static let longestURL = 8192

  /// The nearest number within the bounds.
  static func number(_ number: Int64) -> Int64 { min(max(0, number), greatest) }

  /// The text, unless it is too long.
  static func text(_ text: String, most: Int) -> String? { text.utf8.count <= most ? text : nil }
}
