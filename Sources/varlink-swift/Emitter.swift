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
