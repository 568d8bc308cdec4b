import RefreshAPI

/// What the daemon is still to be told, and how much of it goes into one call.
///
/// Calls stay far below the bound of the protocol on one message, whatever servers send, and progress that the daemon is
/// too slow for is forgotten for later progress.
struct ReportQueue {
  private typealias Entry = (report: Wire.TransferReport, onSaved: () -> Void)

  /// The most reports of one call.
  static let mostReports = 100
  /// The most bytes of one call, about; a single report is told whatever it has.
  static let mostBytes = 256 << 10

  private var waiting: [Entry] = []
  /// What the last call told and has no answer yet.
  private var told: [Entry] = []
  /// The latest of each transfer.
  private var progress: [Int64: Wire.TransferReport] = [:]

  /// Whether everything is told and saved.
  var isEmpty: Bool { waiting.isEmpty && told.isEmpty && progress.isEmpty }

  /// Takes a report; `onSaved` is called once it is in the daemon's store, for progress when it is heard, if ever.
  mutating func add(_ report: Wire.TransferReport, onSaved: @escaping () -> Void = {}) {
    guard report.kind != .progress else {
      progress[report.id] = report
      return
    }
    if report.kind == .ended { progress[report.id] = nil }
    waiting.append((report, onSaved))
  }

  /// Whether the end of a transfer is on its way to the daemon, which need not know of it yet.
  func hasEnd(of id: Int64) -> Bool {
    (told + waiting).contains { $0.report.id == id && $0.report.kind == .ended }
  }

  /// What the next call tells; empty while the last one has no answer, or if there is nothing to tell.
  mutating func takeCall() -> [Wire.TransferReport] {
    guard told.isEmpty else { return [] }
    var bytes = 0
    func fits(_ report: Wire.TransferReport, after count: Int) -> Bool {
      bytes += report.bytesAbout
      return count == 0 || count < Self.mostReports && bytes <= Self.mostBytes
    }
    while told.count < waiting.count, fits(waiting[told.count].report, after: told.count) {
      told.append(waiting[told.count])
    }
    waiting.removeFirst(told.count)
    for (id, report) in progress.sorted(by: { $0.key < $1.key }) where fits(report, after: told.count) {
      told.append((report, {}))
      progress[id] = nil
    }
    return told.map(\.report)
  }

  /// What is to be called because the last call has its answer.
  mutating func takeSaved() -> [() -> Void] {
    defer { told = [] }
    return told.map(\.onSaved)
  }
}

extension Wire.TransferReport {
  /// How many bytes it has as JSON, about: the letters of its texts may be escaped.
  fileprivate var bytesAbout: Int {
    let texts = [message, sha256, resume?.url, resume?.etag, resume?.lastModified, resume?.date, resume?.tusURL]
    return 400 + 2 * texts.compactMap(\.?.utf8.count).reduce(0, +)
  }
}
