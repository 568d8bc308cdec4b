import Testing

/// The README is true: what it tells people to type is there.
struct ReadmeTests {
  let repository = Repository()

  @Test func everyCommandInTheReadmeExists() throws {
    let subcommands = Set(
      try repository.files(below: "Sources/refreshctl", ending: ".swift").flatMap { file in
        try repository.code(of: file).compactMap { _, line -> String? in
          guard let range = line.firstRange(of: "commandName: \"") else { return nil }
          return String(line[range.upperBound...].prefix { $0 != "\"" })
        }
      })
    #expect(subcommands.count > 5)
    for line in try repository.text(of: "README.md").split(separator: "\n") {
      let words = line.split(separator: " ")
      for (word, next) in zip(words, words.dropFirst()) where word == "refreshctl" || word == "`refreshctl" {
        let command = String(next.prefix { $0.isLowercase })
        guard !command.isEmpty else { continue }
        #expect(subcommands.contains(command), "README.md speaks of refreshctl \(command), which is no subcommand")
      }
    }
  }

  @Test func everyMakeTargetInTheReadmeExists() throws {
    let makefile = try repository.text(of: "Makefile")
    for line in try repository.text(of: "README.md").split(separator: "\n") {
      let words = line.split(separator: " ").map { $0.filter { $0.isLetter } }
      for (word, next) in zip(words, words.dropFirst()) where word == "make" && line.contains("`make \(next)`") {
        #expect(makefile.contains("\n\(next):"), "README.md speaks of make \(next), which is no target")
      }
    }
  }
}
