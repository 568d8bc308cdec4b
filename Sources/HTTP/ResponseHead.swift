/// The status and the header fields of one answer, as the server sent them.
package struct ResponseHead: Hashable, Sendable {
  /// The status, such as 206.
  package var status: Int
  /// The fields in the order they came, their names in lower case and their values trimmed.
  package var fields: [(name: String, value: String)]

  /// Makes it of its parts.
  package init(status: Int, fields: [(name: String, value: String)] = []) {
    self.status = status
    self.fields = fields
  }

  /// Reads a status line, such as `HTTP/1.1 200 OK`; nil if it is none.
  package init?(statusLine line: Substring) {
    let words = line.split(maxSplits: 2, whereSeparator: \.isWhitespace)
    guard line.hasPrefix("HTTP/"), words.count >= 2, words[1].utf8.count == 3, let status = Int(words[1]) else {
      return nil
    }
    self.init(status: status)
  }

  /// Takes a line of the form `Name: value`; what is none is passed over.
  package mutating func append(line: Substring) {
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return }
    let name = line[..<colon].lowercased()
    fields.append((name, Self.trimmed(line[line.index(after: colon)...])))
  }

  /// The value of a field that may be there once; nil also if it is there twice with different values.
  ///
  /// Who sends two lengths or two entity tags means neither (RFC 9112 section 6.3).
  package subscript(name: String) -> String? {
    let values = fields.lazy.filter { $0.name == name }.map(\.value)
    guard let first = values.first, values.allSatisfy({ $0 == first }) else { return nil }
    return first
  }

  /// All members of a field that is a list, such as `Cache-Control`, in order and trimmed (RFC 9110 section 5.6.1).
  package func list(_ name: String) -> [String] {
    fields.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map(Self.trimmed).filter { $0 != "" }
  }

  /// Whether status and fields are equal, in their order.
  package static func == (one: ResponseHead, other: ResponseHead) -> Bool {
    one.status == other.status && one.fields.elementsEqual(other.fields, by: ==)
  }

  /// Hashes the status and how many fields there are.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(status)
    hasher.combine(fields.count)
  }

  /// Without the white space of HTTP around it, which is all ASCII.
  private static func trimmed(_ text: Substring) -> String {
    let isSpace = { (byte: UInt8) in byte == 0x20 || 0x09...0x0d ~= byte }
    let start = text.utf8.drop(while: isSpace)
    guard let end = start.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(Substring(start[...end]))
  }
}
