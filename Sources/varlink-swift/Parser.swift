/// Reads one interface file: <https://varlink.org/Interface-Definition>.
struct Parser {
  private let characters: [Character]
  private var position = 0
  private var line = 1
  /// The lines of the comment that stands directly before the next declaration.
  private var comment: [String] = []

  /// The reason why a file cannot be read.
  struct Problem: Error, CustomStringConvertible, Equatable {
    let line: Int
    let message: String
    var description: String { "\(line): error: \(message)" }
  }

  init(_ text: String) {
    characters = Array(text)
  }

  static func read(_ text: String) throws(Problem) -> InterfaceFile {
    var parser = Parser(text)
    var file = try parser.file()
    file.text = text
    return file
  }

  private mutating func file() throws(Problem) -> InterfaceFile {
    var file = InterfaceFile()
    skipSpace()
    file.comment = claimComment()
    try keyword("interface")
    file.name = try name { $0.isLetter || $0.isNumber || $0 == "." || $0 == "-" }
    while true {
      comment = []
      skipSpace()
      guard position < characters.count else { return file }
      let comment = claimComment()
      switch try name() {
      case "type": file.types.append(TypeDeclaration(name: try name(), comment: comment, shape: try shape()))
      case "error": file.errors.append(ErrorDeclaration(name: try name(), comment: comment, members: try record()))
      case "method":
        let name = try name()
        let parameters = try record()
        try symbol("->")
        let method = MethodDeclaration(name: name, comment: comment, parameters: parameters, reply: try record())
        file.methods.append(method)
      case let other: throw problem("cannot read \(other): write type, method or error")
      }
    }
  }

  // MARK: - Types

  private mutating func record() throws(Problem) -> [Member] {
    guard case .record(let members) = try shape() else { throw problem("cannot take words here: write name: type") }
    return members
  }

  /// Reads the parentheses of a type: members, or the words of an enum.
  private mutating func shape() throws(Problem) -> Shape {
    try symbol("(")
    comment = []
    skipSpace()
    guard !skip(")") else { return .record([]) }
    var members: [Member] = []
    var words: [Word] = []
    repeat {
      skipSpace()
      let comment = claimComment()
      let name = try name()
      skipSpace()
      if skip(":") {
        members.append(Member(name: name, type: try type(of: name, comment), comment: comment))
      } else {
        words.append(Word(name: name, comment: comment))
      }
      self.comment = []
      skipSpace()
    } while skip(",")
    try symbol(")")
    guard members.isEmpty || words.isEmpty else { throw problem("cannot mix members and words") }
    return words.isEmpty ? .record(members) : .words(words)
  }

  /// Reads the type of a member; the words of a string `kind` are those that its comment explains.
  private mutating func type(of member: String, _ comment: String) throws(Problem) -> WireType {
    let type = try type()
    guard type == .string, member == "kind" else { return type }
    let words = Documentation.words(comment)
    guard !words.isEmpty else { throw problem("cannot read the words of this kind: write an item - `word`: for each") }
    return .inline(.openWords(words))
  }

  private mutating func type() throws(Problem) -> WireType {
    skipSpace()
    if skip("?") { return .optional(try type()) }
    if skip("[") {
      if skip("]") { return .array(try type()) }
      guard try name() == "string" else { throw problem("cannot take this key of a map: write [string]") }
      try symbol("]")
      return .map(try type())
    }
    if position < characters.count, characters[position] == "(" { return .inline(try shape()) }
    switch try name() {
    case "bool": return .bool
    case "int": return .int
    case "float": return .float
    case "string": return .string
    case "object": return .object
    case let name: return .named(name)
    }
  }

  // MARK: - Characters

  private func problem(_ message: String) -> Problem { Problem(line: line, message: message) }

  /// Skips white space and comments, and keeps the comment directly before the next token.
  private mutating func skipSpace() {
    while position < characters.count {
      let character = characters[position]
      if character == "#" {
        let end = characters[position...].firstIndex(of: "\n") ?? characters.count
        var text = characters[(position + 1)..<end]
        if text.first == " " { text = text.dropFirst() }
        comment.append(String(text))
        position = end
      } else if character.isWhitespace {
        if character == "\n" {
          line += 1
          // An empty line separates a comment from the next declaration.
          if position + 1 < characters.count, characters[position + 1] == "\n" { comment = [] }
        }
        position += 1
      } else {
        return
      }
    }
  }

  private mutating func claimComment() -> String {
    defer { comment = [] }
    return comment.joined(separator: "\n")
  }

  private mutating func skip(_ character: Character) -> Bool {
    guard position < characters.count, characters[position] == character else { return false }
    position += 1
    return true
  }

  private mutating func symbol(_ symbol: String) throws(Problem) {
    skipSpace()
    for character in symbol {
      guard skip(character) else { throw problem("cannot read this: \(symbol) is missing") }
    }
  }

  private mutating func keyword(_ word: String) throws(Problem) {
    guard try name() == word else { throw problem("cannot read this: \(word) is missing") }
  }

  private mutating func name(
    of isPart: (Character) -> Bool = { $0.isLetter || $0.isNumber || $0 == "_" }
  ) throws(Problem) -> String {
    skipSpace()
    let end = characters[position...].firstIndex { !isPart($0) } ?? characters.count
    guard end > position else { throw problem("cannot read this: a name is missing") }
    defer { position = end }
    return String(characters[position..<end])
  }
}

/// The declarations of an interface file, in its order.
struct InterfaceFile: Equatable {
  var name = ""
  var comment = ""
  /// The whole text of the file.
  var text = ""
  var types: [TypeDeclaration] = []
  var methods: [MethodDeclaration] = []
  var errors: [ErrorDeclaration] = []
}

struct TypeDeclaration: Equatable {
  let name: String
  let comment: String
  let shape: Shape
}

struct MethodDeclaration: Equatable {
  let name: String
  let comment: String
  let parameters: [Member]
  let reply: [Member]
}

struct ErrorDeclaration: Equatable {
  let name: String
  let comment: String
  let members: [Member]
}

/// The shape of a type: members, or the words of an enum.
enum Shape: Equatable {
  case record([Member])
  case words([Word])
  /// A string of which the file knows some words; a later service may send others.
  case openWords([Word])
}

struct Member: Equatable {
  let name: String
  let type: WireType
  var comment = ""
}

struct Word: Equatable {
  let name: String
  var comment = ""
}

indirect enum WireType: Equatable {
  case bool, int, float, string, object
  case named(String)
  case array(WireType)
  case map(WireType)
  case optional(WireType)
  /// A type that is declared where it is used.
  case inline(Shape)
}
