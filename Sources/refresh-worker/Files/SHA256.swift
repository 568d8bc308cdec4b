import CCrypto
import Glibc

/// An incremental SHA-256 on libcrypto, which uses the processor's instructions for it.
final class SHA256 {
  private let context: OpaquePointer
  /// The number of bytes so far.
  private(set) var length: Int64 = 0

  /// Starts a digest; throws when out of memory left.
  init() throws(TaskFailure) {
    guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
      throw TaskFailure(.retry(after: nil), "cannot compute a SHA-256: out of memory")
    }
    self.context = context
  }

  deinit { EVP_MD_CTX_free(context) }

  /// Adds the next bytes.
  func append(_ bytes: UnsafeRawBufferPointer) {
    EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    length += Int64(bytes.count)
  }

  /// Returns the digest of all bytes, 64 hex digits in lower case; nothing can be appended afterwards.
  func finish() -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    EVP_DigestFinal_ex(context, &digest, nil)
    let digits = Array("0123456789abcdef")
    return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }

  /// Computes the digest of the first `length` bytes of an open file.
  static func digest(of descriptor: Int32, length: Int64, path: String) throws(TaskFailure) -> String {
    let digest = try SHA256()
    let room = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 64)
    defer { room.deallocate() }
    var offset: Int64 = 0
    while offset < length {
      let count = pread(descriptor, room.baseAddress, min(room.count, Int(clamping: length - offset)), off_t(offset))
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw TaskFailure(errno: count < 0 ? errno : EIO, "read", path) }
      digest.append(UnsafeRawBufferPointer(rebasing: room[..<count]))
      offset += Int64(count)
    }
    return digest.finish()
  }
}
