/// Why a text that a person wrote is no value of the kind that was asked for.
public struct Unreadable: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was read and what is wrong with it, beginning with "cannot".
  public let message: String
  /// What to write instead.
  public let remedy: String

  /// Both in one line, as they are shown to a person.
  public var description: String { "\(message); \(remedy)" }
}

/// The text in double quotes, cut to what fits in a message.
func quoted(_ text: some StringProtocol) -> String {
  text.unicodeScalars.count > 80 ? "\"\(text.prefix(80))…\"" : "\"\(text)\""
}
