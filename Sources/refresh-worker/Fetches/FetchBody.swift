import HTTP

/// Writes the content of a response to a part file, up to a limit.
final class FetchBody {
  let part: PartFile
  let digest: SHA256
  private let most: Int64

  /// Makes an empty part file.
  ///
  /// Throws when the announced length exceeds the limit.
  init(_ target: FetchTarget, most: Int64, announced: Int64?) throws(TaskFailure) {
    guard announced ?? 0 <= most else { throw .tooLong(most: most) }
    digest = try SHA256()
    part = try target.makePart()
    self.most = most
  }

  /// Writes the next bytes; throws beyond the limit, and when the disk is full.
  func append(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) {
    guard part.length + Int64(bytes.count) <= most else { throw .tooLong(most: most) }
    try part.append(bytes, needed: nil)
    digest.append(bytes)
  }
}

extension TaskFailure {
  fileprivate static func tooLong(most: Int64) -> TaskFailure {
    TaskFailure(.failed, "cannot take more than \(most) bytes; raise max_size if that is right")
  }
}

extension ResponseHead {
  /// The length of the decoded content; nil if the response does not declare it.
  var decodedLength: Int64? { list("content-encoding").isEmpty ? contentLength : nil }
}
