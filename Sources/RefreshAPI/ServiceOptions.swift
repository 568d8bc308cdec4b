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
