/// The content of an answer on its way into a file, within bounds.
final class FetchBody {
  let part: PartFile
  let digest: SHA256
  private let most: Int64

  init(_ target: FetchTarget, most: Int64) throws(Trouble) {
    digest = try SHA256()
    part = try target.makePart()
    self.most = most
  }

  /// Takes the next bytes; throws for the first that is too many, or that there is no room for.
  func append(_ bytes: UnsafeRawBufferPointer) throws(Trouble) {
    guard part.length + Int64(bytes.count) <= most else {
      throw Trouble(.failed, "cannot take more than \(most) bytes; raise max_size if that is right")
    }
    try part.append(bytes, needed: nil)
    digest.append(bytes)
  }
}
