import HTTP
import RefreshAPI

/// A running upload or download.
///
/// All functions are called on the thread of the ``TransferWorker``. A transfer reports its end to it exactly once.
protocol Transfer: AnyObject {
  /// The daemon's id of the transfer.
  var id: Int64 { get }
  /// The bytes that were moved, and the length of the file if known.
  var progress: (bytes: Int64, total: Int64?) { get }
  func start()
  /// Stops the transfer and keeps or discards its bytes on disk.
  ///
  /// A download that is replacing its target finishes instead.
  func stop(discarding: Bool)
  /// Limits the rate in bytes a second; nil for the transfer's own limit only.
  func limit(to share: Int64?)
  /// Syncs the bytes so far, because the process ends.
  func sync()
}

/// The services of the process that a transfer uses.
protocol TransferHost: AnyObject {
  var loop: ExchangeLoop { get }
  var disk: Disk { get }
  var reports: Reports { get }
  /// The kernel's id of this boot.
  var boot: String { get }
  /// Opens the folder at a path; transfers into the same folder share it.
  func folder(_ path: String) throws(TaskFailure) -> Folder
  /// Ends a transfer and reports its end to the daemon; `onSaved` is called once the end is in the daemon's store.
  func ended(_ transfer: any Transfer, _ report: Wire.TransferReport, onSaved: @escaping () -> Void)
}

extension TransferHost {
  func ended(_ transfer: any Transfer, _ report: Wire.TransferReport) { ended(transfer, report) {} }

  func start(_ exchange: Exchange) throws(TaskFailure) {
    do throws(ExchangeFailure) { try loop.start(exchange) } catch { throw TaskFailure(error) }
  }
}

extension Wire.TransferReport {
  /// Makes the report of a failed end.
  init(id: Int64, failure: TaskFailure, bytes: Int64?, total: Int64?) {
    switch failure.kind {
    case .failed:
      self.init(id: id, kind: .ended, bytes: bytes, total: total, end: .failed, message: failure.message)
    case .retry(let after):
      self.init(
        id: id, kind: .ended, bytes: bytes, total: total, end: .retry,
        retryAfterMicroseconds: after.map(\.microseconds),
        message: failure.message)
    case .wrong:
      self.init(id: id, kind: .ended, bytes: bytes, total: total, end: .wrong, message: failure.message)
    case .noSpace(let needed):
      self.init(
        id: id, kind: .ended, bytes: bytes, total: total, end: .noSpace, needed: needed, message: failure.message)
    }
  }
}

extension Duration {
  /// Whole microseconds.
  var microseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}

extension HTTPRequest {
  /// Makes a request from an order; `replaced` are the header fields that the app may not set.
  init(_ assignment: Wire.Assignment, replacing replaced: Set<String> = []) throws(TaskFailure) {
    self.init(url: assignment.url)
    let opened = try (
      headers: assignment.headersFile.flatMap { (path) throws(TaskFailure) in try SourceFile.secrets(at: path) },
      credential: assignment.credentialFile.flatMap { (path) throws(TaskFailure) in try SourceFile.secrets(at: path) }
    )
    do throws(ExchangeFailure) {
      if let file = assignment.headersFile {
        headers = try PrivateFile.headers(in: file, opened: opened.headers?.descriptor).filter { line in
          !replaced.contains(line.prefix { $0 != ":" }.lowercased())
        }
      }
      if let file = assignment.credentialFile {
        login = try PrivateFile.login(in: file, opened: opened.credential?.descriptor)
      } else if assignment.netrc == true {
        login = try PrivateFile.netrc()
      }
    } catch {
      throw TaskFailure(error)
    }
    withExtendedLifetime(opened) {}
    stall = .microseconds(max(assignment.stallMicroseconds, 1_000_000))
    maxRate = assignment.maxRate
  }
}
