import FoundationEssentials

/// How an answer is laid out as JSON text.
public enum JSONLayout: Sendable {
  /// A document of its own, indented.
  case document
  /// One line of a stream.
  case line
}

extension Encodable {
  /// The value as JSON text, its keys in byte order, so that the same answer always is the same text.
  ///
  /// Throws `EncodingError` for what JSON cannot hold.
  public func jsonText(_ layout: JSONLayout) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if case .document = layout { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }
}

extension Decodable {
  /// Reads JSON text, such as `jsonText` writes.
  ///
  /// Throws `DecodingError` for any other.
  public init(jsonText: [UInt8]) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(jsonText))
  }
}
