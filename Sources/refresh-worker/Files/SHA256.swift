import CCrypto
import Glibc

/// A SHA-256 in the making, on libcrypto, which uses the processor's own instructions for it.
final class SHA256 {
  private let context: OpaquePointer
  /// How many bytes it is of.
  private(set) var length: Int64 = 0

  /// Throws when there is no memory for it.
  init() throws(Trouble) {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      throw Trouble(.retry(after: nil), "cannot compute a SHA-256: there is no memory")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Takes the next bytes.
  func append(_ bytes: UnsafeRawBufferPointer) {
    EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    length += Int64(bytes.count)
  }

  /// The digest of all that came, 64 hex digits in lower case; nothing can be appended after it.
  func finish() -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &digest, nil)
    let digits = Array("0123456789abcdef")
    return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// The digest of the first bytes of an open file.
  static func digest(of descriptor: Int32, length: Int64, path: String) throws(Trouble) -> String {
    let digest = try SHA256()
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { room.deallocate() }
    var offset: Int64 = 0
    while offset < length {
      let count = pread(descriptor, room.baseAddress, min(room.count, Int(clamping: length - offset)), off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Trouble(errno: count < 0 ? errno : EIO, "read", path) }
      digest.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
      offset += Int64(count)
    }
    return digest.finish()
  }
}
