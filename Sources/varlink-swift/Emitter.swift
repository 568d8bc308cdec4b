/// Writes the Swift code of interface files.
///
/// A type of a file becomes a type in `Wire`, whichever interface declares it. An interface becomes an enum with a type for
/// each of its methods and errors.
struct Emitter {
  let files: [InterfaceFile]
  /// The module that compiles the text.
  let module: String

  /// The error of files that contradict each other.
  struct Problem: Error, CustomStringConvertible, Equatable {
    let message: String
    var description: String { message }
  }

  private var head: String {
    // The module of the protocols need not import itself.
    "// Made by varlink-swift from the interface files.\nimport JSON\n"
      + (module == "Varlink" ? "" : "import Varlink\n")
  }

  /// The types of all files, each once.
  func types() throws(Problem) -> String {
    for file in files { try check(file) }
    var known: [String: (TypeDeclaration, String)] = [:]
    var source = SwiftSource()
    source.verbatim(head)
    guard files.contains(where: { !$0.types.isEmpty }) else { return source.text }
    source.comment(
      "The types of the interface files, by the names that they have there: `type Phase` is ``Wire/Phase``.\n\n"
        + "Names of properties are in Swift's spelling: one that ends in `Microseconds` is `…_us` in the files. A nil is "
        + "left out of the JSON.")
    source.line("public enum Wire {}")
    for file in files {
      for type in file.types {
        if let (other, interface) = known[type.name] {
          guard other.shape.bare == type.shape.bare else {
            throw Problem(
              message: "type \(type.name) is not the same in \(interface) and \(file.name): make them equal")
          }
          continue
        }
        known[type.name] = (type, file.name)
        source.line()
        source.block("extension Wire") { source in
          source.comment(type.comment)
          source.type(type.name, type.shape)
        }
      }
    }
    return source.text
  }

  /// Throws if the file uses a type that it does not declare.
  private func check(_ file: InterfaceFile) throws(Problem) {
    let members =
      file.methods.flatMap { $0.parameters + $0.reply } + file.errors.flatMap(\.members)
      + file.types.flatMap { $0.shape.members }
    for member in members {
      if let name = member.type.name, !file.types.contains(where: { $0.name == name }) {
        throw Problem(message: "\(file.name) does not declare type \(name): every file declares the types that it uses")
      }
    }
  }

  /// The methods and errors of one file.
  func interface(_ file: InterfaceFile) -> String {
    let name = Naming.interface(file.name)
    var source = SwiftSource()
    source.verbatim(head)
    source.comment("The interface `\(file.name)`.\n\n\(file.comment)")
    source.block("public enum \(name): InterfaceDeclaration") { source in
      source.comment("The name of the interface.")
      source.line("public static let name = \"\(file.name)\"")
      source.comment("The text of the interface's file, which introspection serves.")
      source.line("public static let description = ##\"\"\"")
      source.verbatim(file.text)
      source.verbatim("\"\"\"##")
    }
    for method in file.methods {
      source.line()
      source.block("extension \(name)") { source in
        source.comment(method.comment)
        source.block("public enum \(method.name): InterfaceMethod") { source in
          source.comment("The name of the method on the socket.")
          source.line("public static let name = \"\(file.name).\(method.name)\"")
          source.line()
          source.comment("The parameters of `\(method.name)`.")
          source.record("Parameters", method.parameters)
          source.line()
          source.comment("A reply of `\(method.name)`.")
          source.record("Reply", method.reply)
        }
      }
    }
    for error in file.errors {
      source.line()
      source.block("extension \(name)") { source in
        source.comment(error.comment)
        source.record(error.name, error.members, errorName: "\(file.name).\(error.name)")
      }
    }
    return source.text
  }
}

extension Shape {
  /// The shape without its comments.
  fileprivate var bare: Shape {
    switch self {
    case .record(let members): .record(members.map { Member(name: $0.name, type: $0.type.bare) })
    case .words(let words): .words(words.map { Word(name: $0.name) })
    case .openWords(let words): .openWords(words.map { Word(name: $0.name) })
    }
  }

  fileprivate var members: [Member] {
    guard case .record(let members) = self else { return [] }
    return members.flatMap { [$0] + $0.type.inlineMembers }
  }
}

extension WireType {
  fileprivate var bare: WireType {
    switch self {
    case .array(let element): .array(element.bare)
    case .map(let element): .map(element.bare)
    case .optional(let wrapped): .optional(wrapped.bare)
    case .inline(let shape): .inline(shape.bare)
    default: self
    }
  }

  /// The name of the declared type in this type.
  fileprivate var name: String? {
    switch self {
    case .named(let name): name
    case .array(let inner), .map(let inner), .optional(let inner): inner.name
    default: nil
    }
  }

  fileprivate var inlineMembers: [Member] {
    switch self {
    case .inline(let shape): shape.members
    case .array(let inner), .map(let inner), .optional(let inner): inner.inlineMembers
    default: []
    }
  }
}

/// Builds lines of Swift code.
struct SwiftSource {
  private(set) var lines: [String] = []
  private var level = 0

  private var indent: String { String(repeating: "  ", count: level) }

  /// The text of a file.
  var text: String { lines.joined(separator: "\n") + "\n" }

  mutating func line(_ line: String = "") { lines.append(line.isEmpty ? "" : indent + line) }

  mutating func comment(_ comment: String) { lines += Documentation.lines(comment, indent: indent) }

  /// A block in braces.
  mutating func block(_ head: String, _ body: (inout SwiftSource) -> Void) {
    line("\(head) {")
    level += 1
    body(&self)
    level -= 1
    line("}")
  }

  /// Appends lines unchanged, such as those of a text literal.
  mutating func verbatim(_ text: String) { lines.append(text) }
}

extension SwiftSource {
  /// A type with the reading and writing of its JSON.
  fileprivate mutating func type(_ name: String, _ shape: Shape) {
    switch shape {
    case .record(let members): record(name, members)
    case .words(let words): self.words(name, words)
    case .openWords(let words): openWords(name, words)
    }
  }

  // MARK: - Enums

  private mutating func words(_ name: String, _ words: [Word]) {
    block("public enum \(name): String, JSONReadable, JSONWritable, Hashable, Sendable, CaseIterable") { source in
      for word in words {
        source.comment(word.comment)
        let property = Naming.property(word.name)
        source.line("case \(property)" + (property == word.name ? "" : " = \"\(word.name)\""))
      }
      source.line()
      source.comment("Reads the word on the wire.")
      source.block("public init(from json: inout JSONReader) throws(JSONError)") { source in
        source.line("let start = try json.enumWord()")
        for (index, word) in words.enumerated() {
          source.line("\(index == 0 ? "" : "} else ")if json.keyIs(\"\(word.name)\") {")
          source.line("  self = .\(Naming.property(word.name))")
        }
        source.line("} else {")
        source.line("  throw json.error(.unknownWord, at: start)")
        source.line("}")
      }
      source.line()
      source.comment("Writes the word on the wire.")
      source.block("public func write(to json: inout JSONWriter)") { source in
        source.block("switch self") { source in
          for word in words {
            source.line("case .\(Naming.property(word.name)): json.literal(#\"\"\(word.name)\"\"#)")
          }
        }
      }
    }
  }

  private mutating func openWords(_ name: String, _ words: [Word]) {
    block("public struct \(name): RawRepresentable, JSONReadable, JSONWritable, Hashable, Sendable") { source in
      for word in words {
        source.comment(word.comment)
        source.line("public static let \(Naming.property(word.name)) = \(name)(rawValue: \"\(word.name)\")")
      }
      source.comment("The word on the wire.")
      source.line("public let rawValue: String")
      source.line()
      source.comment("Makes a word, which may be one that the file does not list.")
      source.line("public init(rawValue: String) { self.rawValue = rawValue }")
      source.line()
      source.comment("Reads the word on the wire.")
      source.line("public init(from json: inout JSONReader) throws(JSONError) { rawValue = try json.string() }")
      source.line()
      source.comment("Writes the word on the wire.")
      source.line("public func write(to json: inout JSONWriter) { json.string(rawValue) }")
    }
  }

  // MARK: - Structs

  fileprivate mutating func record(_ name: String, _ members: [Member], errorName: String? = nil) {
    let kind = errorName == nil ? "JSONReadable, JSONWritable" : "VarlinkError"
    // An extensible type of events reads an unknown word as absent, so that the rest of the event is readable.
    let isOpen = members.contains { if case .inline(.openWords) = $0.type { true } else { false } }
    block("public struct \(name): \(kind), Hashable, Sendable") { source in
      if let errorName {
        source.comment("The name of the error on the socket.")
        source.line("public static let name = \"\(errorName)\"")
      }
      for member in members {
        source.comment(member.comment)
        source.line("public let \(Naming.property(member.name)): \(member.type.swift(in: member.name))")
      }
      for member in members {
        guard let shape = member.type.inlineShape else { continue }
        source.line()
        source.comment("The type of `\(member.name)`.")
        source.type(Naming.type(ofMember: member.name), shape)
      }
      source.line()
      source.initializer(members)
      source.line()
      source.reading(members, isOpen: isOpen)
      source.line()
      source.writing(members)
    }
  }

  private mutating func initializer(_ members: [Member]) {
    comment("Makes the value.")
    let parameters = members.map { member in
      let type = "\(Naming.property(member.name)): \(member.type.swift(in: member.name))"
      return member.type.isOptional ? "\(type) = nil" : type
    }
    block("public init(\(parameters.joined(separator: ", ")))") { source in
      for member in members {
        let name = Naming.property(member.name)
        source.line("self.\(name.filter { $0 != "`" }) = \(name)")
      }
    }
  }

  private mutating func reading(_ members: [Member], isOpen: Bool) {
    comment("Reads the object. Members that are not declared are ignored.")
    block("public init(from json: inout JSONReader) throws(JSONError)") { source in
      source.line("json.skipSpace()")
      if members.contains(where: { !$0.type.isOptional }) { source.line("let _start = json.position") }
      if !members.isEmpty { source.line("var _seen: UInt64 = 0") }
      for member in members {
        source.line("var \(Naming.property(member.name)): \(member.type.unwrapped.swift(in: member.name))?")
      }
      source.line("try json.beginObject()")
      source.block("while try json.nextKey()") { source in
        guard !members.isEmpty else { return source.line("try json.skip()") }
        for (index, member) in members.enumerated() {
          source.line("\(index == 0 ? "" : "} else ")if json.keyIs(\"\(member.name)\") {")
          source.line("  try json.once(&_seen, \(index))")
          source.line("  \(Naming.property(member.name)) = \(member.type.reading(in: member.name, isOpen: isOpen))")
        }
        source.line("} else {")
        source.line("  try json.skip()")
        source.line("}")
      }
      for member in members {
        let name = Naming.property(member.name)
        if !member.type.isOptional {
          source.line("guard let \(name) else { throw json.error(.missing(\"\(member.name)\"), at: _start) }")
        }
        source.line("self.\(name.filter { $0 != "`" }) = \(name)")
      }
    }
  }

  private mutating func writing(_ members: [Member]) {
    comment("Writes the object, its members in byte order. A nil is left out.")
    block("public func write(to json: inout JSONWriter)") { source in
      source.line("json.beginObject()")
      for member in members.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
        let name = Naming.property(member.name)
        if member.type.isOptional {
          source.line("if let \(name) {")
          source.line("  json.key(#\"\"\(member.name)\":\"#)")
          source.line("  \(name).write(to: &json)")
          source.line("}")
        } else {
          source.line("json.key(#\"\"\(member.name)\":\"#)")
          source.line("\(name).write(to: &json)")
        }
      }
      source.line("json.endObject()")
    }
  }
}

extension WireType {
  fileprivate var isOptional: Bool { if case .optional = self { true } else { false } }

  fileprivate var unwrapped: WireType { if case .optional(let wrapped) = self { wrapped } else { self } }

  /// The shape that is declared in place.
  fileprivate var inlineShape: Shape? {
    switch self {
    case .inline(let shape): shape
    case .array(let inner), .map(let inner), .optional(let inner): inner.inlineShape
    default: nil
    }
  }

  /// The type in Swift, for a member of this name.
  fileprivate func swift(in member: String) -> String {
    switch self {
    case .bool: "Bool"
    case .int: Naming.integer(member)
    case .float: "Double"
    case .string: "String"
    case .object: "JSONValue"
    case .named(let name): "Wire.\(name)"
    case .array(let element): "[\(element.swift(in: member))]"
    case .map(let element): "[String: \(element.swift(in: member))]"
    case .optional(let wrapped): "\(wrapped.swift(in: member))?"
    case .inline: Naming.type(ofMember: member)
    }
  }

  fileprivate func reading(in member: String, isOpen: Bool) -> String {
    guard case .optional(let wrapped) = self else { return "try \(swift(in: member))(from: &json)" }
    if isOpen, case .named = wrapped { return "try json.known(\(wrapped.swift(in: member)).self)" }
    return "try json.optional(\(wrapped.swift(in: member)).self)"
  }
}
