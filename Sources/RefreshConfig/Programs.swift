/// Finds the programs of a configuration, each once.
struct Programs {
  /// Where a program without a slash is looked for: systemd's own search path.
  ///
  /// Fixed, so that a file means the same whoever starts the daemon.
  static let searchPath = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"]

  private let isProgram: (String) -> Bool
  private var found: [String: String?] = [:]

  init(_ isProgram: @escaping (String) -> Bool) {
    self.isProgram = isProgram
  }

  /// The absolute path of a program.
  mutating func path(of program: String) throws(Unreadable) -> String {
    let candidates = program.contains("/") ? [program] : Self.searchPath.map { "\($0)/\(program)" }
    guard !program.isEmpty, candidates[0].hasPrefix("/") else {
      throw Unreadable(
        message: "cannot find the program \(quoted(program)) by a relative path",
        remedy: "write its whole path, or its name alone")
    }
    let path = found[program] ?? candidates.first(where: isProgram)
    found[program] = .some(path)
    guard let path else {
      throw Unreadable(
        message: program.hasPrefix("/")
          ? "cannot execute \(quoted(program)): it is no executable file"
          : "cannot find \(quoted(program)) in \(Self.searchPath.joined(separator: ":"))",
        remedy: "install the program, or correct its name")
    }
    return path
  }
}
