import Testing

@testable import HTTP

/// Decodes bodies in gzip's format, whole and cut, in parts of any size.
struct GzipDecoderTests {
  private static let text = "hello, hello, hello\n"
  /// The text, compressed by gzip(1).
  private static let packed: [UInt8] = [
    0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0xd7, 0x51, 0xc8, 0x40,
    0xa2, 0xb8, 0x00, 0xe7, 0x42, 0x6e, 0x52, 0x14, 0x00, 0x00, 0x00,
  ]

  /// The decoded text, whether the format was right, and whether it came to its end.
  private func decode(_ bytes: [UInt8], inPartsOf size: Int) throws -> (text: String, isGzip: Bool, isWhole: Bool) {
    let decoder = try GzipDecoder()
    var (decoded, isGzip): ([UInt8], Bool) = ([], true)
    for start in stride(from: 0, to: bytes.count, by: size) where isGzip {
      isGzip = bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { part in
        decoder.decode(part) { decoded += $0 }
      }
    }
    return (String(decoding: decoded, as: UTF8.self), isGzip, decoder.isWhole)
  }

  @Test(arguments: [1, 7, 1000]) func aWholeBodyIsDecoded(size: Int) throws {
    #expect(try decode(Self.packed, inPartsOf: size) == (Self.text, true, true))
    #expect(try decode(Self.packed + Self.packed, inPartsOf: size) == (Self.text + Self.text, true, true))
  }

  @Test(arguments: 0..<GzipDecoderTests.packed.count) func aCutBodyIsNotWhole(length: Int) throws {
    let result = try decode(Array(Self.packed[..<length]), inPartsOf: 1000)
    #expect(result.isGzip && !result.isWhole)
    #expect(try !decode(Self.packed + Self.packed[..<length], inPartsOf: 1000).isWhole || length == 0)
  }

  @Test func otherBytesAreRefused() throws {
    #expect(try !decode(Array("plain text".utf8), inPartsOf: 3).isGzip)
    #expect(try !decode(Self.packed + [1, 2, 3], inPartsOf: 1000).isGzip)
    var wrong = Self.packed
    wrong[wrong.count - 6] ^= 1
    #expect(try !decode(wrong, inPartsOf: 1000).isGzip)
  }
}
