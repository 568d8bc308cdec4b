/// A draft of an app's file: the keys that a person gave, in the order of a file.
struct AppDraft: Hashable {
  /// The command of a task.
  enum Task: Hashable {
    /// A program and its arguments.
    case run([String])
    /// A line for `/bin/sh`.
    case shell(String)
  }

  var id: String
  var name: String?
  var owner: String?
  var foregroundInterval: String?
  var backgroundInterval: String?
  var network: String?
  var power: String?
  var deadline: String?
  var tasks: [Task] = []
  /// The rule that detects new data, for each task.
  var newData: String?

  /// The name of the file in `apps.d`.
  var fileName: String { "\(id).toml" }

  /// The file, in TOML.
  var text: String {
    let keys: [(name: String, value: String?)] = [
      ("id", id), ("name", name), ("owner", owner), ("foreground_interval", foregroundInterval),
      ("background_interval", backgroundInterval), ("network", network), ("power", power), ("deadline", deadline),
    ]
    var lines = ["# Written by `refreshctl new`; refreshd-app(5) has every key.", ""]
    lines += keys.compactMap { key in key.value.map { "\(key.name) = \(Self.quoted($0))" } }
    for task in tasks {
      lines += ["", "[[task]]", Self.line(task)]
      if let newData { lines.append("new_data = \(Self.quoted(newData))") }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func line(_ task: Task) -> String {
    switch task {
    case .run(let words): "run = [\(words.map(quoted).joined(separator: ", "))]"
    case .shell(let line): "shell = \(quoted(line))"
    }
  }

  /// A basic string of TOML.
  private static func quoted(_ text: String) -> String {
    var quoted = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": quoted += "\\\(scalar)"
      case "\n": quoted += "\\n"
      case "\t": quoted += "\\t"
      case _ where scalar.value < 0x20 || scalar.value == 0x7F:
        quoted += "\\u00" + (scalar.value < 0x10 ? "0" : "") + String(scalar.value, radix: 16)
      default: quoted.unicodeScalars.append(scalar)
      }
    }
    return quoted + "\""
  }
}

/// The words of a command line, as a shell splits them: at blanks, outside of quotes.
enum ShellWords {
  /// The reason why a command line cannot be split into words.
  enum Refusal: Error, Hashable {
    /// A quote has no end.
    case open(Character)
    /// A character has a meaning only for a shell, such as a pipe or a variable.
    case needsShell(Character)
  }

  /// The characters with a meaning for a shell outside of quotes; `~` only at the beginning of a word.
  private static let special = Set("|&;<>()$`*?[]{}#!\n")

  /// Splits a command line.
  ///
  /// Quotes and backslashes work as in sh(1); nothing is expanded.
  static func split(_ line: String) throws(Refusal) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var rest = line[...]
    while let character = rest.popFirst() {
      if let open = quote {
        if character == open {
          quote = nil
        } else if open == "\"", character == "\\", let next = rest.first, "\"\\$`".contains(next) {
          word?.append(rest.removeFirst())
        } else if open == "\"", "$`".contains(character) {
          throw .needsShell(character)
        } else {
          word?.append(character)
        }
        continue
      }
      switch character {
      case " ", "\t":
        if let ended = word { words.append(ended) }
        word = nil
      case "'", "\"":
        quote = character
        word = word ?? ""
      case "\\":
        guard let next = rest.popFirst() else { throw .open("\\") }
        word = (word ?? "") + String(next)
      case _ where special.contains(character) || character == "~" && word == nil:
        throw .needsShell(character)
      default:
        word = (word ?? "") + String(character)
      }
    }
    if let quote { throw .open(quote) }
    if let ended = word { words.append(ended) }
    return words
  }
}
