import HTTP
import RefreshAPI

/// Which version of a file on a server the bytes of a part are of.
struct PartVersion: Hashable, Sendable {
  /// Where it came from, after redirects.
  var url: String?
  var etag: String?
  var lastModified: String?
  var date: String?
  var total: Int64?

  /// The version that an answer brings; what is too long to be kept counts as not sent.
  init(_ head: ResponseHead, url: String?, total: Int64?) {
    self.url = url.flatMap { $0.utf8.count <= WebAddress.longest ? $0 : nil }
    etag = head.validator("etag")
    lastModified = head.validator("last-modified")
    date = head.validator("date")
    self.total = total
  }

  /// The version that was told to the daemon before.
  init(_ resume: Wire.Resume) {
    url = resume.url
    etag = resume.etag
    lastModified = resume.lastModified
    date = resume.date
    total = resume.total
  }

  /// What it is completed by; nil if it cannot be.
  var validator: Validator? {
    var head = ResponseHead(status: 200)
    for case (let name, let value?) in [("etag", etag), ("last-modified", lastModified), ("date", date)] {
      head.fields.append((name, value))
    }
    return Validator(head)
  }

  /// Whether an answer from this URL may continue it; a date says nothing about another server's file.
  func mayContinue(from other: String?) -> Bool {
    if case .date? = validator { return url == other }
    return true
  }

  /// What the daemon is to hand back with the next order.
  func resume(durable: Int64, boot: String, mark: Int64) -> Wire.Resume {
    Wire.Resume(
      url: url, etag: etag, lastModified: lastModified, date: date, total: total, durable: durable, boot: boot,
      partMark: mark)
  }
}

extension Wire.Resume {
  /// How many bytes of a part count.
  ///
  /// In the boot in which they were written all of them do: the kernel has them even if the worker was killed. After a
  /// crash of the machine only those that were made durable do. In another file none do.
  func kept(of part: PartFile, boot current: String) -> Int64 {
    guard partMark == part.mark else { return 0 }
    return boot == current ? part.length : min(durable, part.length)
  }
}
