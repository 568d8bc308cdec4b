/// The working directory and environment of a command: keys of a task, of an app and of `[defaults]`.
struct ExecContext {
  private(set) var directory: String?
  private var environment: [String: String] = [:]

  /// The keys that have a use only for processes that refreshd itself starts.
  static let keysOfProcesses = ["directory", "environment"]

  init() {}

  /// Reads the keys of a section.
  init(from section: inout Section) {
    let path = ValueType<String>.text(
      "/srv/mirror", where: \.isPath, else: { "cannot use \(quoted($0)) as a directory: it is not a whole path" },
      remedy: "begin with a slash, or with ~/ for the owner's home")
    directory = section.read("directory", path)
    environment =
      section.readTable("environment", example: #"environment = { LANG = "C.UTF-8" }"#) { table in
        var environment: [String: String] = [:]
        for name in table.keys {
          let value = ValueType<String>.text("C.UTF-8") { (value) throws(Unreadable) in
            try Self.check(name, value)
            return value
          }
          environment[name] = table.read(name, value)
        }
        return environment
      } ?? [:]
  }

  /// The context, with settings of `outer` that it lacks.
  func completed(by outer: ExecContext) -> ExecContext {
    var context = self
    context.directory = directory ?? outer.directory
    context.environment.merge(outer.environment) { own, _ in own }
    return context
  }

  /// The variables in the form of `environ(7)`, in the order of their names.
  var environmentList: [String] { environment.map { "\($0.key)=\($0.value)" }.sorted() }

  private static func check(_ name: String, _ value: String) throws(Unreadable) {
    guard name.utf8.first?.isDigit == false, name.utf8.allSatisfy({ $0 == UInt8(ascii: "_") || $0.isLetterOrDigit })
    else {
      throw Unreadable(
        "cannot use \(quoted(name)) as the name of a variable",
        remedy: "write letters, digits and _, and no digit first")
    }
    guard !name.hasPrefix("REFRESH_") else {
      throw Unreadable(
        "cannot set \(name): refreshd sets the variables of that prefix", remedy: "choose another name")
    }
    guard !value.utf8.contains(0) else {
      throw Unreadable("cannot put a NUL into a variable", remedy: "remove the \\u0000")
    }
  }
}
