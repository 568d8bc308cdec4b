import CCrypto

/// SHA-256 digests, shortened to as many digits as an id needs.
enum Digest {
  /// The first `count` hexadecimal digits of the digest, at most 64; nil if there is no memory.
  static func digits(_ count: Int, of bytes: some Sequence<UInt8>) -> String? {
    let bytes = Array(bytes)
    var digest = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
    let digits = Array("0123456789abcdef")
    return String(digest.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }.prefix(count))
  }
}
