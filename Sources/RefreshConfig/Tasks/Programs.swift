/// Finds the programs of a configuration, each once.
final class Programs {
  /// The directories to search for a program without a slash: systemd's own search path.
  ///
  /// The path is fixed, so that a file means the same in every environment of the daemon.
  static let searchPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"]

  private let isProgram: @Sendable (String) -> Bool
  private var found: [String: String?] = [:]

  init(_ isProgram: @escaping @Sendable (String) -> Bool) {
    self.isProgram = isProgram
  }

  /// The absolute path of a program.
  func path(of program: String) throws(Unreadable) -> String {
    let candidates = program.contains("/") ? [program] : Self.searchPath.map { "\($0)/\(program)" }
    guard !program.isEmpty, candidates[0].hasPrefix("/") else {
      throw Unreadable(
        "cannot find the program \(quoted(program)) by a relative path",
        remedy: "write its absolute path, or only its name")
    }
    if found[program] == nil { found[program] = .some(try first(of: candidates)) }
    let path = found[program] ?? nil
    guard let path else {
      throw Unreadable(
        program.hasPrefix("/")
          ? "cannot execute \(quoted(program)): it is not an executable file"
          : "cannot find \(quoted(program)) in \(Self.searchPath.joined(separator: ":"))",
        remedy: "install the program, or correct its name")
    }
    return path
  }

  private func first(of paths: [String]) throws(Unreadable) -> String? {
    for path in paths { if try look(at: path) { return path } }
    return nil
  }

  /// Whether a path leads to a program; throws if the file system of a path outside /usr and /bin does not answer.
  private func look(at path: String) throws(Unreadable) -> Bool {
    guard !path.hasPrefix("/usr/"), !path.hasPrefix("/bin/") else { return isProgram(path) }
    let folder = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    guard let answer = Patience.ask(about: "files in \(folder)/", { [isProgram] in isProgram(path) }) else {
      throw Unreadable(
        "cannot look at \(quoted(path)): its file system has not answered for \(Patience.bound.components.seconds) s",
        remedy: "check that the mount answers; then the file is read again")
    }
    return answer
  }

  /// The type of a command: an array of the program and its arguments.
  ///
  /// The program becomes an absolute path.
  func arguments(example: String) -> ValueType<[String]> {
    ValueType(example: example) { (node, _) throws(Unreadable) -> [String]? in
      guard case .array(let elements) = node.value else { return nil }
      var arguments: [String] = []
      for element in elements {
        guard case .string(let text) = element.value else {
          throw Unreadable(
            "cannot use \(element.kind) as an argument", remedy: #"put it in quotes, as in ["sleep", "5"]"#)
        }
        guard !text.utf8.contains(0) else {
          throw Unreadable("cannot put a NUL into an argument", remedy: "remove the \\u0000")
        }
        arguments.append(text)
      }
      guard let program = arguments.first else {
        throw Unreadable("cannot run an empty command", remedy: "write for example \(example)")
      }
      arguments[0] = try self.path(of: program)
      return arguments
    }
  }
}
