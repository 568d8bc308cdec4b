/// Reads the options of a program's command line in order: `--name`, `--name VALUE` or `--name=VALUE`.
///
/// The parser is hand-written, because swift-argument-parser would stay in the memory of long-running programs for a few
/// options.
public struct CommandLineOptions {
  private let program: String
  private var words: ArraySlice<String>
  private var word = ""
  private var name = ""
  private var given: String?

  /// Starts to read; `arguments[0]` is the program's name as called, and `program` is its name in messages.
  public init(_ arguments: [String], of program: String) {
    (self.program, words) = (program, arguments.dropFirst())
  }

  /// The name of the next option; nil after the last option.
  public mutating func next() throws(ServiceError) -> String? {
    if given != nil { throw mistake("cannot use a value with \(name)") }
    guard let next = words.popFirst() else { return nil }
    let parts = next.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    (word, name, given) = (next, parts[0], parts.count > 1 ? parts[1] : nil)
    return name
  }

  /// The value of the option.
  public mutating func value() throws(ServiceError) -> String {
    guard let value = given ?? words.popFirst(), !value.isEmpty else {
      throw mistake("cannot use \(name) without a value")
    }
    given = nil
    return value
  }

  /// The error for an option that the program does not have.
  public var unknown: ServiceError { mistake("cannot use the argument \(word)") }

  private func mistake(_ text: String) -> ServiceError { ServiceError(.usage, "\(text); see \(program) --help") }
}
