extension SwiftSource {
  /// A type with the reading and writing of its JSON.
  mutating func type(_ name: String, _ shape: Shape) {
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

  mutating func record(_ name: String, _ members: [Member], errorName: String? = nil) {
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
