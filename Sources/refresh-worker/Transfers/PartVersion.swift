import HTTP
import RefreshAPI

/// The version of the server's file that a part belongs to.
struct PartVersion: Hashable, Sendable {
  /// The final URL, after redirects.
  var url: String?
  var etag: String?
  var lastModified: String?
  var date: String?
  var total: Int64?

  /// Reads the version from a response; a value that is too long to store counts as absent.
  init(_ head: ResponseHead, url: String?, total: Int64?) {
    self.url = url.flatMap { $0.utf8.count <= WebAddress.longest ? $0 : nil }
    // A compressed file is never continued, because servers give it the validators of the plain one.
    if head.encodings.isEmpty {
      etag = head.validator("etag")
      lastModified = head.validator("last-modified")
      date = head.validator("date")
    }
    self.total = total
  }

  /// Reads the version that the daemon stored.
  init(_ resume: Wire.Resume) {
    url = resume.url
    etag = resume.etag
    lastModified = resume.lastModified
    date = resume.date
    total = resume.total
  }

  /// The validator for a range request; nil if the part cannot be completed.
  var validator: HTTPValidator? {
    var head = ResponseHead(status: 200)
    for case (let name, let value?) in [("etag", etag), ("last-modified", lastModified), ("date", date)] {
      head.fields.append((name, value))
    }
    return HTTPValidator(head)
  }

  /// Whether a response from this URL may continue the part; a date identifies a version on one server only.
  func mayContinue(from other: String?) -> Bool {
    if case .date? = validator { return url == other }
    return true
  }

  /// The resume data that the daemon stores and returns with the next order.
  func resume(durable: Int64, boot: String, mark: Int64) -> Wire.Resume {
    Wire.Resume(
      url: url, etag: etag, lastModified: lastModified, date: date, total: total, durable: durable, boot: boot,
      partMark: mark)
  }
}

extension Wire.Resume {
  /// How many bytes of a part are reliable.
  ///
  /// In the same boot all bytes are, because the kernel has them even if the worker was killed. After a reboot only the
  /// synced bytes are. In a file with another mark none are.
  func kept(of part: PartFile, boot current: String) -> Int64 {
    guard partMark == part.mark else { return 0 }
    return boot == current ? part.length : min(durable, part.length)
  }
}
