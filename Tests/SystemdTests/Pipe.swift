import Glibc

/// A pipe that closes its ends on release.
final class Pipe {
  let reading: Int32
  private(set) var writing: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { preconditionFailure("cannot make a pipe: \(errno)") }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    closeWriting()
  }

  func closeWriting() {
    guard writing >= 0 else { return }
    close(writing)
    writing = -1
  }

  func write(_ text: String) {
    var text = text
    text.withUTF8 { _ = Glibc.write(writing, $0.baseAddress, $0.count) }
  }

  /// Reads up to 64 KiB; waits for the first byte.
  func read() -> String {
    let bytes = [UInt8](unsafeUninitializedCapacity: 65536) { buffer, count in
      count = max(0, Glibc.read(reading, buffer.baseAddress, buffer.count))
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
