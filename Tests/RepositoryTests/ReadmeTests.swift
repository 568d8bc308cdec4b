import Testing

/// The README and the pages below docs/ are true: the commands and the targets that they name exist.
struct ReadmeTests {
  let repository = Repository()

  @Test func everyCommandOnAPageExists() throws {
    let subcommands = Set(
      try repository.files(below: "Sources/refreshctl", ending: ".swift").flatMap { file in
        try repository.code(of: file).compactMap { _, line -> String? in
          let range = line.firstRange(of: "commandName: \"") ?? line.firstRange(of: "aliases: [\"")
          guard let range else { return nil }
          return String(line[range.upperBound...].prefix { $0 != "\"" })
        }
      }
    ).union(["help"])  // of ArgumentParser
    #expect(subcommands.count > 5)
    for page in try repository.pages() {
      for line in try repository.text(of: page).split(separator: "\n") {
        let words = line.split(separator: " ")
        for (word, next) in zip(words, words.dropFirst()) where word == "refreshctl" || word == "`refreshctl" {
          let command = String(next.prefix { $0.isLowercase || $0 == "-" })
          guard !command.isEmpty, !command.hasPrefix("-") else { continue }
          #expect(
            subcommands.contains(command),
            "\(page) names refreshctl \(command), which is no subcommand; name one of `refreshctl --help`")
        }
      }
    }
  }

  @Test func everyMakeTargetOnAPageExists() throws {
    let makefile = try repository.text(of: "Makefile")
    for page in try repository.pages() {
      for line in try repository.text(of: page).split(separator: "\n") {
        let isCode = line.hasPrefix("    ")
        let words = line.split(separator: " ").map { $0.filter { $0.isLetter || $0 == "-" } }
        for (word, next) in zip(words, words.dropFirst()) where word == "make" {
          guard line.contains("`make \(next)`") || isCode && line.contains("make \(next)") else { continue }
          #expect(
            makefile.contains("\n\(next):"), "\(page) names make \(next), which is no target; see the Makefile's head")
        }
      }
    }
  }

  @Test func theReadmeIsAFrontDoor() throws {
    let readme = try repository.text(of: "README.md")
    for page in try repository.files(below: "docs", ending: ".md") {
      #expect(readme.contains("](\(page))"), "README.md has no link to \(page); add a row to its table of pages")
    }
  }
}
