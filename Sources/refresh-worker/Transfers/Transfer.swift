import HTTP
import RefreshAPI

/// One file on its way.
///
/// Everything is called on the thread of the ``TransferWorker``, to which each tells its end exactly once.
protocol Transfer: AnyObject {
  /// The daemon's number of it.
  var id: Int64 { get }
  /// How many bytes are moved, of how many if that is known.
  var progress: (bytes: Int64, total: Int64?) { get }
  func start()
  /// Ends it as soon as it can be, with what is there of it kept or discarded.
  ///
  /// One that is being put into place is not stopped any more.
  func stop(discarding: Bool)
  /// Bounds it to so many bytes a second; nil for its own bound only.
  func limit(to share: Int64?)
  /// Makes durable what can be, because the process ends.
  func keep()
}

/// What a transfer needs of the process that it is in.
protocol TransferPlace: AnyObject {
  var loop: ExchangeLoop { get }
  var disk: Disk { get }
  var reports: Reports { get }
  /// The kernel's id of this boot.
  var boot: String { get }
  /// The folder at a path, opened once for all that are in it at the moment.
  func folder(_ path: String) throws(Trouble) -> Folder
  /// It is over; tells the daemon so.
  func ended(_ transfer: any Transfer, _ report: Wire.TransferReport)
}

extension Wire.TransferReport {
  /// The report of an end that is none of success.
  init(id: Int64, trouble: Trouble, bytes: Int64, total: Int64?) {
    switch trouble.kind {
    case .failed:
      self.init(id: id, kind: .ended, bytes: bytes, total: total, end: .failed, message: trouble.message)
    case .retry(let after):
      self.init(
        id: id, kind: .ended, bytes: bytes, total: total, end: .retry,
        retryAfterMicroseconds: after.map(\.microseconds),
        message: trouble.message)
    case .noSpace(let needed):
      self.init(
        id: id, kind: .ended, bytes: bytes, total: total, end: .noSpace, needed: needed, message: trouble.message)
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
  /// What an order says about how to ask; `replaced` are the names of header fields that are not the app's to set.
  init(_ assignment: Wire.Assignment, replacing replaced: Set<String> = []) throws(Trouble) {
    self.init(url: assignment.url)
    do throws(ExchangeFailure) {
      if let file = assignment.headersFile {
        headers = try PrivateFile.headers(in: file).filter { line in
          !replaced.contains(line.prefix { $0 != ":" }.lowercased())
        }
      }
      if let file = assignment.credentialFile {
        login = try PrivateFile.login(in: file)
      } else if assignment.netrc == true {
        login = try PrivateFile.netrc()
      }
    } catch {
      throw Trouble(error)
    }
    stall = .microseconds(max(assignment.stallMicroseconds, 1_000_000))
    maxRate = assignment.maxRate
  }
}
