import Testing

/// Bytes from outside have one reader, the module JSON: Foundation's traps on 513 open brackets.
struct OutsideBytesTests {
  let repository = Repository()

  @Test(arguments: ["JSONDecoder", "JSONEncoder", "JSONSerialization", "Codable", "Decodable", "Encodable"])
  func noOtherReaderOfJSONIsUsed(name: String) throws {
    for file in try repository.files(below: "Sources", ending: ".swift") {
      for (number, line) in try repository.code(of: file) {
        #expect(!line.contains(name), "\(file):\(number) has \(name); conform to JSONReadable or JSONWritable")
      }
    }
  }

  @Test func nothingGeneratedIsCommitted() throws {
    for file in try repository.files(below: "Sources", ending: ".varlink") {
      let folder = file.split(separator: "/").dropLast().joined(separator: "/")
      let name = file.split(separator: "/").last?.dropLast(".varlink".count) ?? ""
      let sources = try repository.files(below: folder, ending: "\(name).swift")
      #expect(sources.isEmpty, "\(sources): the plugin VarlinkSwift makes it")
    }
  }
}
