import CZlib

/// Decodes a body in gzip's format (RFC 1952), and detects whether its end is missing.
///
/// libcurl can decode too, but accepts a body that was cut as complete.
package final class GzipDecoder {
  private static let roomSize = 64 << 10
  /// gzip's own header and checksum (zlib.h, `inflateInit2`), with zlib's largest window.
  private static let format: Int32 = 15 + 16

  // zlib keeps the address.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let room = UnsafeMutableRawBufferPointer.allocate(byteCount: GzipDecoder.roomSize, alignment: 16)
  /// Whether the bytes so far end where the format does, under the right checksum.
  package private(set) var isWhole = false

  /// Makes a decoder; throws when the process has no memory left.
  package init() throws(ExchangeFailure) {
    stream.initialize(to: z_stream())
    let size = Int32(MemoryLayout<z_stream>.size)
    guard inflateInit2_(stream, Self.format, ZLIB_VERSION, size) == Z_OK else {
      throw ExchangeFailure(kind: .temporary, message: "cannot decode gzip: out of memory")
    }
  }

  deinit {
    inflateEnd(stream)
    stream.deallocate()
    room.deallocate()
  }

  /// Decodes the next bytes and hands them on in parts; returns false if they are not in gzip's format.
  package func decode<Failure: Error>(
    _ bytes: UnsafeRawBufferPointer, _ receive: (UnsafeRawBufferPointer) throws(Failure) -> Void
  ) throws(Failure) -> Bool {
    // zlib reads the bytes only.
    stream.pointee.next_in = UnsafeMutablePointer(
      mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
    stream.pointee.avail_in = UInt32(bytes.count)
    repeat {
      if isWhole {
        guard stream.pointee.avail_in > 0 else { return true }
        // A body may have several members.
        guard inflateReset(stream) == Z_OK else { return false }
        isWhole = false
      }
      stream.pointee.next_out = room.baseAddress?.assumingMemoryBound(to: UInt8.self)
      stream.pointee.avail_out = UInt32(Self.roomSize)
      let code = inflate(stream, Z_NO_FLUSH)
      let made = Self.roomSize - Int(stream.pointee.avail_out)
      if made > 0 { try receive(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(room)[..<made])) }
      switch code {
      case Z_STREAM_END: isWhole = true
      case Z_OK: break
      // zlib needs more bytes.
      case Z_BUF_ERROR: return true
      default: return false
      }
    } while stream.pointee.avail_in > 0 || stream.pointee.avail_out == 0
    return true
  }
}
