/// The bytes of a stream, cut into lines, of which none takes more memory than the limit.
///
/// Lines end with a line feed, with or without a carriage return before it. A longer line is passed over and counted.
struct LineBuffer: Hashable, Sendable {
  /// The most bytes of a line, its end not counted.
  let limit: Int
  /// How many lines were too long.
  private(set) var passedOver = 0
  private var line: [UInt8] = []
  private var isTooLong = false

  init(limit: Int) { self.limit = limit }

  /// Takes bytes in, and gives the lines that end in them.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      take(rest[..<end])
      if let line = finish() { lines.append(line) }
      rest = rest[(end + 1)...]
    }
    take(rest)
    return lines
  }

  private mutating func take(_ part: Slice<UnsafeRawBufferPointer>) {
    guard !isTooLong else { return }
    // One more for the carriage return that may be the last.
    guard line.count + part.count <= limit + 1 else {
      isTooLong = true
      line = []
      return
    }
    line.append(contentsOf: part)
  }

  private mutating func finish() -> [UInt8]? {
    defer {
      line = []
      isTooLong = false
    }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    guard !isTooLong, line.count <= limit else {
      passedOver += 1
      return nil
    }
    return line
  }
}
