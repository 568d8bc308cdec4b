/// Splits the bytes of a stream into lines of bounded length.
///
/// Lines end with a line feed, with or without a carriage return before it. A longer line is skipped and counted.
struct LineBuffer: Hashable, Sendable {
  /// The most bytes of a line, without its end.
  let limit: Int
  /// The number of skipped lines.
  private(set) var passedOver = 0
  private var line: [UInt8] = []
  private var isTooLong = false

  init(limit: Int) { self.limit = limit }

  /// Appends bytes, and returns the lines that they complete.
  mutating func append(_ bytes: UnsafeRawBufferPointer) -> [[UInt8]] {
    var lines: [[UInt8]] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      extendLine(rest[..<end])
      if let line = finish() { lines.append(line) }
      rest = rest[(end + 1)...]
    }
    extendLine(rest)
    return lines
  }

  private mutating func extendLine(_ part: Slice<UnsafeRawBufferPointer>) {
    guard !isTooLong else { return }
    // The limit has room for a final carriage return.
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
