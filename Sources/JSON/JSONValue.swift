/// Any JSON value, for a program that accepts more than one type.
public enum JSONValue: Hashable, Sendable {
  /// `null`.
  case null
  /// `true` or `false`.
  case flag(Bool)
  /// A number of any size, as its text.
  case number(String)
  /// A string.
  case text(String)
  /// The elements of a list.
  case list([JSONValue])
  /// The members of an object in their order, duplicates included.
  case object([Member])

  /// A member of an object: its name and its value.
  public struct Member: Hashable, Sendable {
    /// The name.
    public let name: String
    /// The value.
    public let value: JSONValue

    /// Makes a member.
    public init(name: String, value: JSONValue) {
      (self.name, self.value) = (name, value)
    }
  }
}

extension JSONValue: JSONReadable, JSONWritable {
  /// Reads a value of any type.
  public init(from json: inout JSONReader) throws(JSONError) {
    json.skipSpace()
    switch json.next {
    case UInt8(ascii: "{"):
      var members: [Member] = []
      try json.beginObject()
      while try json.nextKey() { members.append(Member(name: json.keyText, value: try JSONValue(from: &json))) }
      self = .object(members)
    case UInt8(ascii: "["): self = .list(try [JSONValue](from: &json))
    case UInt8(ascii: "\""): self = .text(try json.string())
    case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .flag(try json.bool())
    case UInt8(ascii: "n"):
      guard try json.null() else { throw json.error(.malformed, at: json.position) }
      self = .null
    default:
      let digits = try json.number()
      self = .number(String(decoding: UnsafeRawBufferPointer(rebasing: json.bytes[digits]), as: UTF8.self))
    }
  }

  /// Writes the value as it was read.
  public func write(to json: inout JSONWriter) {
    switch self {
    case .null: json.literal("null")
    case .flag(let flag): flag.write(to: &json)
    case .number(let digits): json.bytes.append(contentsOf: digits.utf8)
    case .text(let text): json.string(text)
    case .list(let elements): elements.write(to: &json)
    case .object(let members):
      json.beginObject()
      for member in members {
        json.name(member.name)
        member.value.write(to: &json)
      }
      json.endObject()
    }
  }

  /// The first member with a name; nil if there is none, or if the value is not an object.
  public subscript(name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.first { $0.name == name }?.value
  }
}
