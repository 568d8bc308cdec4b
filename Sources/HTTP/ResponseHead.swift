/// The status and the header fields of a response.
package struct ResponseHead: Hashable, Sendable {
  /// The status, such as 206.
  package var status: Int
  /// The fields in their order, with names in lower case and trimmed values.
  package var fields: [(name: String, value: String)]

  /// Makes a head.
  package init(status: Int, fields: [(name: String, value: String)] = []) {
    self.status = status
    self.fields = fields
  }

  /// Parses a status line, such as `HTTP/1.1 200 OK`; nil for any other line.
  package init?(statusLine line: Substring) {
    let words = line.split(maxSplits: 2, whereSeparator: \.isWhitespace)
    guard line.hasPrefix("HTTP/"), words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]) else {
      return nil
    }
    self.init(status: status)
  }

  /// Adds a line of the form `Name: value`; skips any other line.
  package mutating func append(line: Substring) {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = line[..<colon].lowercased()
    fields.append((name, Self.trimmed(line[line.index(after: colon)...])))
  }

  /// The value of a field that may occur once; nil also if it occurs with different values.
  ///
  /// Two lengths or two entity tags cannot be trusted (RFC 9112 section 6.3).
  package subscript(name: String) -> String? {
    let values = fields.lazy.filter { $0.name == name }.map(\.value)
    guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// The members of a list field, such as `Cache-Control`, in order and trimmed (RFC 9110 section 5.6.1).
  package func list(_ name: String) -> [String] {
    fields.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map(Self.trimmed).filter { $0 != "" }
  }

  /// Whether status and fields are equal, in their order.
  package static func == (one: ResponseHead, other: ResponseHead) -> Bool {
    one.status == other.status && one.fields.elementsEqual(other.fields, by: ==)
  }

  /// Hashes the status and the number of fields.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(fields.count)
  }

  /// Removes HTTP's white space, which is ASCII, from both ends.
  private static func trimmed(_ text: Substring) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0d ~= byte }
    let start = text.utf8.drop(while: isSpace)
    guard let end = start.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(Substring(start[...end]))
  }
}
