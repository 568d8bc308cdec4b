import FoundationEssentials
import Testing

/// The files named by docs/glossary.md, docs/how-to-extend.md and Sources/README.md exist.
struct GlossaryTests {
  let repository = Repository()

  /// The most files for a change that is to touch few; those of the others may grow with what they do.
  private static let mostFiles: [Substring: Int] = ["A condition": 9, "A built-in kind of task": 8]

  @Test func everyWordHasItsFile() throws {
    let rows = Self.rows(try repository.text(of: "docs/glossary.md"))
    #expect(rows.count > 50)
    let words = rows.map { $0[0] }
    #expect(words == words.sorted(), "put the words of docs/glossary.md in order")
    #expect(
      Set(words).count == words.count, "a word of docs/glossary.md has two meanings; give one of them another word")
    for row in rows {
      let files = Self.paths(row.last ?? "")
      #expect(
        row.count == 3 && files.count == 1, "the row of \(row[0]) in docs/glossary.md needs a meaning and one file")
      for file in files { try expect(file, has: row[0], in: "docs/glossary.md") }
    }
  }

  @Test func everyListOfFilesIsWhole() throws {
    let page = "docs/how-to-extend.md"
    var titles: [Substring] = []
    for section in try repository.text(of: page).split(separator: "\n## ").dropFirst() {
      let title = section.prefix { $0 != "\n" }
      guard let line = section.split(separator: "\n").first(where: { $0.hasPrefix("Words: ") }) else { continue }
      titles.append(title)
      let quoted = Self.quoted(line)
      let folder = try #require(quoted.last, "\(page), \(title): the line of words ends with a folder")
      let listed = Set(Self.rows(String(section)).flatMap { Self.paths($0[0]) })
      #expect(
        listed.count <= Self.mostFiles[title] ?? .max, "\(page), \(title): keep the code out of one of the files")
      let mentioning = try mentions(of: quoted.dropLast(), below: folder)
      for file in mentioning.subtracting(listed).sorted() {
        Issue.record(
          "\(page), \(title): \(file) uses one of \(quoted.dropLast()), but is not listed; keep the code out of it, or add a row"
        )
      }
      for file in listed.subtracting(mentioning).sorted() {
        let problem = repository.exists(file) ? "uses none of \(quoted.dropLast())" : "is not there; \(advice(file))"
        Issue.record("\(page), \(title): \(file) \(problem); or remove the row")
      }
      for word in quoted.dropLast() {
        let isUsed = try !mentions(of: [word], below: folder).isEmpty
        #expect(isUsed, "\(page), \(title): no code uses \(word); write the name that has taken its place")
      }
    }
    #expect(
      titles.count == 7 && titles.first == "A condition",
      "\(page) has a list for a condition, one of an app's own, a kind, a method, a key, a subcommand and a migration")
    for path in Self.paths(try repository.text(of: page)) {
      #expect(repository.exists(path), "\(page) names \(path), which is not there; \(advice(path))")
    }
  }

  @Test func everyWayNamesFilesOfTheTree() throws {
    let page = "Sources/README.md"
    let sections = try repository.text(of: page).split(separator: "\n## ")
    let section = try #require(sections.first { $0.hasPrefix("Four ways through the code\n") }, "\(page) has the ways")
    let steps = section.split(separator: "\n- **").dropFirst()
    #expect(steps.count > 30)
    for step in steps {
      // The title of the next way follows the last step of one.
      let names = Self.quoted(step.split(separator: "\n\n")[0])
      let module = step.prefix { $0 != "*" }
      #expect(!names.isEmpty, "\(page), \(module): a step of a way names its files")
      for name in names {
        let file = name.contains(".") ? "/\(name)" : "/\(name).swift"
        let found = try repository.files(below: "Sources/\(module)", ending: "").filter { $0.hasSuffix(file) }
        let problem = found.isEmpty ? "is not there; \(advice(file))" : "is \(found.joined(separator: " and "))"
        #expect(found.count == 1, "\(page): \(name) of \(module) \(problem)")
      }
    }
  }

  /// The files below a folder whose code, without comments, has one of the words.
  private func mentions(of words: ArraySlice<String>, below folder: String) throws -> Set<String> {
    var found: Set<String> = []
    for ending in [".swift", ".varlink", ".h"] {
      for file in try repository.files(below: folder, ending: ending) {
        let bytes = try repository.bytes(of: file)
        for word in words where !found.contains(file) {
          bytes.forEachOccurrence(of: word) { offset in
            let end = offset + word.utf8.count
            guard offset == 0 || !bytes[offset - 1].isOfIdentifier, end >= bytes.count || !bytes[end].isOfIdentifier
            else {
              return
            }
            let line = bytes.line(at: offset)
            let trimmed = line.drop { $0 == " " }
            guard !["//", "#", "*", "--"].contains(where: trimmed.hasPrefix), Self.isCode(word, in: line) else {
              return
            }
            found.insert(file)
          }
        }
      }
    }
    return found
  }

  /// Whether a word of a line is code, or a whole literal such as `"calm"`: a sentence in a literal may use any word.
  private static func isCode(_ word: String, in line: String) -> Bool {
    let literals = line.split(separator: "\"", omittingEmptySubsequences: false)
    return literals.enumerated().contains { index, part in
      index % 2 == 1 ? part == word : part.contains(word)
    }
  }

  private func expect(_ file: String, has word: String, in page: String) throws {
    guard repository.exists(file) else {
      Issue.record("\(page): \(word) is in \(file), which is not there; \(advice(file))")
      return
    }
    let text = try repository.text(of: file).lowercased()
    let spellings = [
      word, word.replacing(" ", with: ""), word.replacing("-", with: ""), word.replacing("-", with: " "),
    ]
    #expect(
      spellings.contains { text.contains($0.lowercased()) },
      "\(page): \(file) does not have the word \(word); name the file with its rule, or correct the file's words")
  }

  /// Where a file that is not there may have gone.
  private func advice(_ file: String) -> String {
    let name = file.split(separator: "/").last.map { "/\($0)" } ?? file
    let moved = ["Sources", "Tests"].flatMap { (try? repository.files(below: $0, ending: name)) ?? [] }
    return moved.isEmpty ? "name the file that has taken its place" : "write \(moved.joined(separator: " or "))"
  }

  /// The cells of the rows of a page's tables, heads and rules apart.
  private static func rows(_ text: String) -> [[String]] {
    text.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { line in
      line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
    }.filter { !["word", "file"].contains($0[0]) }
  }

  /// The texts between backticks.
  private static func quoted(_ text: Substring) -> [String] {
    text.split(separator: "`", omittingEmptySubsequences: false).enumerated().compactMap { index, part in
      index % 2 == 1 ? String(part) : nil
    }
  }

  /// The paths of files that stand between backticks.
  private static func paths(_ text: String) -> [String] {
    quoted(text[...]).filter { path in
      ["Sources/", "Tests/", "config/", "systemd/"].contains(where: path.hasPrefix)
        && path.split(separator: "/").last?.contains(".") == true && !path.contains(" ")
    }
  }
}
