/// Collects the lines of an exchange's heads, up to the end of the final one.
struct HeadReader {
  /// The most bytes of all heads of an exchange.
  private static let mostBytes = 256 << 10

  /// The last head; an interim one, such as `100 Continue`, is replaced by the next.
  private(set) var head: ResponseHead?
  /// Whether all lines of the final head have come.
  private(set) var isWhole = false
  /// The reason why the head must not be believed.
  private(set) var flaw: String?
  private var bytes = 0

  /// Whether the final head has begun, and not an interim one.
  var isFinal: Bool { head.map { $0.status >= 200 } ?? false }

  /// Reads a line with its end; `mindsLength` is whether the body must have a certain end.
  mutating func read(_ line: Substring, mindsLength: Bool) {
    bytes += line.utf8.count
    guard bytes <= Self.mostBytes else {
      flaw = Self.tooLong
      return
    }
    if line.hasPrefix("HTTP/"), let next = ResponseHead(statusLine: line) {
      (head, isWhole) = (next, false)
    } else if !isWhole {
      head?.append(line: line)
    }
    // Fields after a body of no bytes may follow the end.
    guard !isWhole, isFinal, line.allSatisfy(\.isNewline) else { return }
    isWhole = true
    if mindsLength { flaw = head?.flaw }
  }

  /// The flaw of a head with more than is read; libcurl reads at most 100 kB in a line.
  static let tooLong = "its head has more than 100 kB in a line, or 256 kB in all"
}
