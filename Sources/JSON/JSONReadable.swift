/// A type that is read from JSON.
public protocol JSONReadable {
  /// Reads the value at the position of the reader.
  init(from json: inout JSONReader) throws(JSONError)
}

/// A type that is written as JSON.
public protocol JSONWritable {
  /// Writes the value.
  func write(to json: inout JSONWriter)
}

extension JSONReader {
  /// Reads a member that may be null.
  @inlinable
  public mutating func optional<Value: JSONReadable>(_ type: Value.Type) throws(JSONError) -> Value? {
    try null() ? nil : try Value(from: &self)
  }

  /// Reads a member that may be null; treats a word that the enum does not have as absent.
  @inlinable
  public mutating func known<Word: JSONReadable>(_ type: Word.Type) throws(JSONError) -> Word? {
    do throws(JSONError) {
      return try optional(type)
    } catch {
      guard case .unknownWord = error.reason else { throw error }
      return nil
    }
  }
}

extension String: JSONReadable, JSONWritable {
  /// Reads a string.
  public init(from json: inout JSONReader) throws(JSONError) { self = try json.string() }

  /// Writes the string.
  public func write(to json: inout JSONWriter) { json.string(self) }
}

extension Bool: JSONReadable, JSONWritable {
  /// Reads `true` or `false`.
  public init(from json: inout JSONReader) throws(JSONError) { self = try json.bool() }

  /// Writes `true` or `false`.
  public func write(to json: inout JSONWriter) { json.literal(self ? "true" : "false") }
}

extension Int64: JSONReadable, JSONWritable {
  /// Reads a whole number.
  public init(from json: inout JSONReader) throws(JSONError) { self = try json.int64() }

  /// Writes the number in digits.
  public func write(to json: inout JSONWriter) { json.int64(self) }
}

extension Int: JSONReadable, JSONWritable {
  /// Reads a whole number.
  public init(from json: inout JSONReader) throws(JSONError) { self = Int(try json.int64()) }

  /// Writes the number in digits.
  public func write(to json: inout JSONWriter) { json.int64(Int64(self)) }
}

extension Double: JSONReadable, JSONWritable {
  /// Reads a number.
  public init(from json: inout JSONReader) throws(JSONError) { self = try json.double() }

  /// Writes the shortest digits that are this number.
  public func write(to json: inout JSONWriter) { json.double(self) }
}

extension Array: JSONReadable where Element: JSONReadable {
  /// Reads a list.
  @inlinable
  public init(from json: inout JSONReader) throws(JSONError) {
    self.init()
    try json.beginArray()
    while try json.nextElement() {
      guard count < json.mostInList else { throw json.error(.tooMany) }
      append(try Element(from: &json))
    }
  }
}

extension Array: JSONWritable where Element: JSONWritable {
  /// Writes a list.
  @inlinable
  public func write(to json: inout JSONWriter) {
    json.beginArray()
    for element in self {
      json.nextElement()
      element.write(to: &json)
    }
    json.endArray()
  }
}

extension Optional: JSONReadable where Wrapped: JSONReadable {
  /// Reads a value or null.
  @inlinable
  public init(from json: inout JSONReader) throws(JSONError) { self = try json.optional(Wrapped.self) }
}

extension Optional: JSONWritable where Wrapped: JSONWritable {
  /// Writes the value or null.
  @inlinable
  public func write(to json: inout JSONWriter) {
    if let self { self.write(to: &json) } else { json.literal("null") }
  }
}

extension Dictionary: JSONReadable where Key == String, Value: JSONReadable {
  /// Reads an object whose members all have the same type.
  public init(from json: inout JSONReader) throws(JSONError) {
    self.init()
    try json.beginObject()
    while try json.nextKey() {
      let (name, start) = (json.keyText, json.position)
      guard updateValue(try Value(from: &json), forKey: name) == nil else { throw json.error(.duplicate, at: start) }
    }
  }
}

extension Dictionary: JSONWritable where Key == String, Value: JSONWritable {
  /// Writes an object, its names in byte order.
  public func write(to json: inout JSONWriter) {
    json.beginObject()
    for (name, value) in sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      json.name(name)
      value.write(to: &json)
    }
    json.endObject()
  }
}

/// The layout of a value as JSON text.
public enum JSONLayout: Sendable {
  /// An indented document.
  case document
  /// A line of a stream.
  case line
}

/// The error of a value with a number that JSON cannot hold, such as infinity.
public struct UnwritableNumber: Error, CustomStringConvertible {
  /// A description for a person.
  public var description: String { "a number is infinite or none" }
}

extension JSONWritable {
  /// Returns the value as JSON text; equal values have equal text.
  public func jsonText(_ layout: JSONLayout) throws(UnwritableNumber) -> String {
    String(decoding: try jsonBytes(layout), as: UTF8.self)
  }

  /// Returns the value as the bytes of JSON text.
  public func jsonBytes(_ layout: JSONLayout = .line) throws(UnwritableNumber) -> [UInt8] {
    var json = JSONWriter()
    write(to: &json)
    guard !json.hasUnwritable else { throw UnwritableNumber() }
    return layout == .line ? json.bytes : indented(json.bytes)
  }
}

extension JSONReadable {
  /// Reads one JSON text, after which nothing may follow.
  public init(jsonText: [UInt8], mostLevels: Int = JSONReader.mostLevels) throws(JSONError) {
    // `withUnsafeBytes` cannot rethrow a typed error, so the error leaves as a value.
    let outcome = jsonText.withUnsafeBytes { bytes -> Result<Self, JSONError> in
      do throws(JSONError) {
        var json = JSONReader(bytes, mostLevels: mostLevels)
        let value = try Self(from: &json)
        try json.end()
        return .success(value)
      } catch {
        return .failure(error)
      }
    }
    self = try outcome.get()
  }
}

/// Indents JSON: a member or an element a line, two spaces a level.
private func indented(_ json: [UInt8]) -> [UInt8] {
  var text: [UInt8] = []
  var level = 0
  var isInString = false
  var isEscaped = false
  func newLine() {
    text.append(UInt8(ascii: "\n"))
    text.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
  }
  for (index, byte) in json.enumerated() {
    if isInString {
      text.append(byte)
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else if byte == UInt8(ascii: "\"") {
        isInString = false
      }
      continue
    }
    switch byte {
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      text.append(byte)
      level += 1
      // An empty list or object has an empty line, as Foundation's encoder writes it.
      if json[index + 1] == byte + 2 { text.append(UInt8(ascii: "\n")) } else { newLine() }
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      level -= 1
      newLine()
      text.append(byte)
    case UInt8(ascii: ","):
      text.append(byte)
      newLine()
    case UInt8(ascii: ":"): text.append(contentsOf: " : ".utf8)
    default:
      isInString = byte == UInt8(ascii: "\"")
      text.append(byte)
    }
  }
  return text
}
