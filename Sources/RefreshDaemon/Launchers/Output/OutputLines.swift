/// Splits the bytes that a task prints into lines.
///
/// ``TaskOutput`` reads the bytes from the pipe.
struct OutputLines {
  /// The most bytes that are buffered for a line; longer lines are cut.
  static let lineBound = 2048
  /// The most bytes of the last line that a refresh keeps.
  static let messageBound = 200

  /// Whether the task has printed anything.
  private(set) var hasPrinted = false
  private var partial: [UInt8] = []
  private var last: [UInt8] = []

  /// The last line that is not blank, cut to ``messageBound`` bytes of UTF-8; empty if there is none.
  var message: String { Self.message(of: String(decoding: last, as: UTF8.self)) }

  /// The beginning of a text: at most ``messageBound`` bytes of UTF-8, in whole characters.
  static func message(of text: String) -> String { beginning(of: text, most: messageBound) }

  /// The beginning of a text: at most `bound` bytes of UTF-8, in whole characters.
  static func beginning(of text: String, most bound: Int) -> String {
    // An invalid byte becomes three bytes, so the bound applies to the text.
    guard text.utf8.count > bound else { return text }
    var message = ""
    for character in text {
      guard message.utf8.count + character.utf8.count <= bound else { break }
      message.append(character)
    }
    return message
  }

  /// Receives bytes, and calls `line` with the bytes of each line that they complete.
  mutating func receive(_ bytes: some Collection<UInt8>, line: (ArraySlice<UInt8>) -> Void) {
    hasPrinted = hasPrinted || !bytes.isEmpty
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      append(rest[..<end], line: line)
      flush(line: line)
      rest = rest[rest.index(after: end)...]
    }
    append(rest, line: line)
  }

  /// Calls `line` with the last line if it has no line break.
  mutating func finish(line: (ArraySlice<UInt8>) -> Void) {
    if !partial.isEmpty { flush(line: line) }
  }

  private mutating func append(_ bytes: some Collection<UInt8>, line: (ArraySlice<UInt8>) -> Void) {
    partial.append(contentsOf: bytes)
    while partial.count > Self.lineBound {
      // Do not cut within a character: its later bytes are 10xxxxxx, at most three.
      var end = Self.lineBound
      while end > Self.lineBound - 3, partial[end] & 0b1100_0000 == 0b1000_0000 { end -= 1 }
      give(partial[..<end], line: line)
      partial.removeSubrange(..<end)
    }
  }

  private mutating func flush(line: (ArraySlice<UInt8>) -> Void) {
    if partial.last == UInt8(ascii: "\r") { partial.removeLast() }
    give(partial[...], line: line)
    partial.removeAll(keepingCapacity: true)
  }

  private mutating func give(_ bytes: ArraySlice<UInt8>, line: (ArraySlice<UInt8>) -> Void) {
    if bytes.contains(where: { $0 > UInt8(ascii: " ") }) {
      last.removeAll(keepingCapacity: true)
      last.append(contentsOf: bytes.prefix(Self.messageBound + 4))
    }
    line(bytes)
  }
}
