import HTTP

/// Writes the content of a response to a part file, decoded and up to a limit.
final class FetchBody {
  let part: PartFile
  private let digest: SHA256
  private let most: Int64
  /// Set if the content is compressed.
  private let gzip: GzipDecoder?

  /// Makes an empty part file.
  ///
  /// Throws when the announced length exceeds the limit, and when the content is encoded otherwise than by gzip.
  init(_ target: FetchTarget, _ head: ResponseHead, most: Int64) throws(TaskFailure) {
    let encodings = head.encodings
    guard !encodings.isEmpty || head.contentLength ?? 0 <= most else { throw .tooLong(most: most) }
    switch encodings {
    case []: gzip = nil
    case ["gzip"], ["x-gzip"]:
      do throws(ExchangeFailure) { gzip = try GzipDecoder() } catch { throw TaskFailure(error) }
    default:
      throw TaskFailure(
        .wrong, "cannot decode what came: its Content-Encoding is \(encodings.joined(separator: ", "))")
    }
    digest = try SHA256()
    part = try target.makePart()
    self.most = most
  }

  /// Writes the next bytes; throws beyond the limit, when the disk is full, and when the bytes cannot be decoded.
  func append(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) {
    guard let gzip else { return try write(bytes) }
    let isGzip = try gzip.decode(bytes) { (decoded) throws(TaskFailure) in try write(decoded) }
    guard isGzip else { throw TaskFailure(.wrong, "cannot decode what came: it is not in gzip's format") }
  }

  /// Ends the content and returns its SHA-256; throws if its format lacks the end.
  func finish() throws(TaskFailure) -> String {
    guard gzip?.isWhole ?? true else {
      throw TaskFailure(.wrong, "cannot decode what came: the end of its gzip format is missing")
    }
    return digest.finish()
  }

  private func write(_ bytes: UnsafeRawBufferPointer) throws(TaskFailure) {
    guard part.length + Int64(bytes.count) <= most else { throw .tooLong(most: most) }
    try part.append(bytes, needed: nil)
    digest.append(bytes)
  }
}

extension TaskFailure {
  /// The words for a body without a mark of its end.
  static let noEnd = "cannot tell whether this is all: the server gave no length, and the connection may have been cut"

  fileprivate static func tooLong(most: Int64) -> TaskFailure {
    TaskFailure(.failed, "cannot take more than \(most) bytes; raise max_size if that is right")
  }
}

extension ResponseHead {
  /// The encodings of the content, in lower case; none for the names of no encoding that servers write by mistake.
  var encodings: [String] {
    list("content-encoding").map { $0.lowercased() }.filter {
      !["identity", "none", "utf-8", "aws-chunked"].contains($0)
    }
  }
}
