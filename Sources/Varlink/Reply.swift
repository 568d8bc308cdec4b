import FoundationEssentials

/// Writes answers as the bytes of messages.
///
/// Holds the one encoder of a server.
///
/// Only the object of the parameters is encoded; what is around it is constant. <https://varlink.org/Method-Call>.
struct ReplyWriter {
  private let json: JSONEncoder

  /// An answer that is one of several has `continues` set.
  enum Kind {
    case last
    case continues
    case error(name: String)
  }

  init() {
    json = JSONEncoder()
    json.outputFormatting = .withoutEscapingSlashes
  }

  /// Appends a whole message.
  ///
  /// Throws, with nothing appended, when the value cannot be an object of JSON.
  func write(_ parameters: some Encodable, as kind: Kind, to bytes: inout [UInt8]) throws {
    let object = try json.encode(parameters)
    guard object.first == UInt8(ascii: "{") else {
      throw EncodingError.invalidValue(
        parameters, .init(codingPath: [], debugDescription: "The parameters of an answer are an object."))
    }
    switch kind {
    case .last, .continues: bytes.append(contentsOf: #"{"parameters":"#.utf8)
    case .error(let name):
      bytes.append(contentsOf: #"{"error":""#.utf8)
      bytes.append(contentsOf: name.utf8)
      bytes.append(contentsOf: #"","parameters":"#.utf8)
    }
    object.withUnsafeBytes { bytes.append(contentsOf: $0) }
    if case .continues = kind { bytes.append(contentsOf: #","continues":true"#.utf8) }
    bytes.append(UInt8(ascii: "}"))
    bytes.append(0)
  }

  /// Appends the answer that has nothing to tell.
  func writeEmpty(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: #"{"parameters":{}}"#.utf8)
    bytes.append(0)
  }
}
