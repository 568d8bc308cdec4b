/// A command as files have it: an array of the program and its arguments.
extension Section {
  /// Takes the arguments of a command, the first of which becomes the absolute path of the program.
  mutating func takeArguments(_ key: String, example: String, _ programs: inout Programs) -> [String]? {
    take(key, example: "\(key) = \(example)") { (node) throws(Unreadable) -> [String]? in
      guard case .array(let elements) = node.value else { return nil }
      var arguments: [String] = []
      for element in elements {
        guard case .string(let text) = element.value else {
          throw Unreadable(
            message: "cannot take \(element.kind) as an argument", remedy: #"put it in quotes, as in ["sleep", "5"]"#)
        }
        guard !text.utf8.contains(0) else {
          throw Unreadable(message: "cannot put a NUL into an argument", remedy: "remove the \\u0000")
        }
        arguments.append(text)
      }
      guard let program = arguments.first else {
        throw Unreadable(message: "cannot run an empty array", remedy: "write for example \(example)")
      }
      arguments[0] = try programs.path(of: program)
      return arguments
    }?.value
  }
}
