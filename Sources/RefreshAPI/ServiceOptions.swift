/// The command line of a service that has a configuration, a state and a socket.
public struct ServiceOptions<Purpose> {
  /// The purpose of the start.
  public private(set) var purpose: Purpose
  /// Whether the service serves one user.
  public private(set) var isOfUser = false
  /// The folder of the configuration; nil for the usual one.
  public private(set) var config: String?
  /// The folder of the state; nil for the usual one.
  public private(set) var state: String?
  /// The path of the daemon's socket; nil for the usual one.
  public private(set) var socket: String?

  /// Reads the command line of `program`; `arguments[0]` is its name as it was called.
  ///
  /// An option in `others` names its purpose; without one, the purpose is `usual`. Throws for an unknown option, or a
  /// missing or unexpected value.
  public init(
    _ arguments: [String], of program: String, _ usual: Purpose, _ others: [String: Purpose]
  ) throws(ServiceError) {
    purpose = usual
    var options = CommandLineOptions(arguments, of: program)
    while let name = try options.next() {
      switch name {
      case "--user": isOfUser = true
      case "--config": config = try options.value()
      case "--state": state = try options.value()
      case "--socket": socket = try options.value()
      default:
        guard let other = others[name] else { throw options.unknown }
        purpose = other
      }
    }
  }
}

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

/// The reason why a service cannot start or go on, and its exit code.
public struct ServiceError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The exit codes of the services, from `sysexits.h`, as systemd.exec(5) lists them.
  public enum ExitCode: Int32, Sendable {
    /// The command line is wrong.
    case usage = 64
    /// The stored state is damaged; a person must decide.
    case damaged = 65
    /// The machine lacks something that the service needs.
    case software = 70
    /// The state directory or the socket cannot be made.
    case cannotCreate = 73
    /// Another process of the service uses the same state or socket.
    case temporary = 75
    /// The configuration has mistakes.
    case configuration = 78
  }

  /// The code to exit with.
  public let code: ExitCode
  /// A sentence with the remedy, or a line for every mistake.
  public let description: String

  /// Makes an error.
  public init(_ code: ExitCode, _ description: String) { (self.code, self.description) = (code, description) }
}
