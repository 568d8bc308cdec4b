import HTTP

/// The content of an answer on its way into a file, within bounds.
final class FetchBody {
  let part: PartFile
  let digest: SHA256
  private let most: Int64

  /// Makes room for it.
  ///
  /// Throws when it is `announced` to be too long, before anything of it has come.
  init(_ target: FetchTarget, most: Int64, announced: Int64?) throws(Trouble) {
    guard announced ?? 0 <= most else { throw .tooLong(most: most) }
    digest = try SHA256()
    part = try target.makePart()
    self.most = most
  }

  /// Takes the next bytes; throws for the first that is too many, or that there is no room for.
  func append(_ bytes: UnsafeRawBufferPointer) throws(Trouble) {
    guard part.length + Int64(bytes.count) <= most else { throw .tooLong(most: most) }
    try part.append(bytes, needed: nil)
    digest.append(bytes)
  }
}

extension Trouble {
  fileprivate static func tooLong(most: Int64) -> Trouble {
    Trouble(.failed, "cannot take more than \(most) bytes; raise max_size if that is right")
  }
}

extension ResponseHead {
  /// How many bytes the content has that is kept; nil if that is not known before it has come.
  var decodedLength: Int64? { list("content-encoding").isEmpty ? contentLength : nil }
}
