/// Writes the conversions between enums of interface files and the enums of the engine that have the same cases.
///
/// A line of the list is an `import`, `WIRE = TYPE`, `WIRE < TYPE` if only the type's value can be converted, or
/// `WIRE > TYPE` if only the wire's.
struct Twins {
  let files: [InterfaceFile]

  /// Reads the list and writes an initializer for each direction.
  func conversions(_ list: String) throws(Emitter.Problem) -> String {
    var source = SwiftSource()
    source.verbatim("// Made by varlink-swift from the list of twins.")
    for line in list.split(separator: "\n") where !line.hasPrefix("#") {
      if line.hasPrefix("import ") {
        source.line(String(line))
        continue
      }
      let parts = line.split(separator: " ").map(String.init)
      guard parts.count == 3, ["=", "<", ">"].contains(parts[1]) else {
        throw Emitter.Problem(message: "cannot read \(line): write WIRE = TYPE, WIRE < TYPE or WIRE > TYPE")
      }
      let cases = try cases(of: parts[0])
      if parts[1] != ">" { source.conversion(from: parts[2], to: "Wire.\(parts[0])", cases) }
      if parts[1] != "<" { source.conversion(from: "Wire.\(parts[0])", to: parts[2], cases) }
    }
    return source.text
  }

  private func cases(of name: String) throws(Emitter.Problem) -> [String] {
    for type in files.flatMap(\.types) where type.name == name {
      if case .words(let words) = type.shape { return words.map { Naming.property($0.name) } }
    }
    throw Emitter.Problem(message: "no interface file declares an enum \(name)")
  }
}

extension SwiftSource {
  fileprivate mutating func conversion(from: String, to: String, _ cases: [String]) {
    line()
    block("extension \(to)") { source in
      source.block("init(_ twin: \(from))") { source in
        source.block("switch twin") { source in
          for name in cases { source.line("case .\(name): self = .\(name)") }
        }
      }
    }
  }
}
