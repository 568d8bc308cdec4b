import FoundationEssentials
import Testing

/// Comments, pages and help texts are sentences that a stranger understands: each has a subject, and few words.
struct ProseTests {
  let repository = Repository()

  @Test func commentsNameTheirSubjectAndAreShort() throws {
    var sentences = 0
    for folder in ["Sources", "Tests", "Plugins", "bench"] {
      for ending in [".swift", ".h", ".c", ".cpp", ".varlink", ".py"] {
        for file in try repository.files(below: folder, ending: ending) {
          let hasHashes = ending == ".varlink" || ending == ".py"
          sentences += check(Prose.comments(in: try repository.bytes(of: file), hasHashes: hasHashes), of: file)
        }
      }
    }
    #expect(sentences > 5000)
  }

  @Test func commentsOfCNameTheirSubjectAndAreShort() throws {
    var sentences = 0
    for folder in ["Sources", "Tests", "bench"] {
      for ending in [".h", ".c", ".cpp"] {
        for file in try repository.files(below: folder, ending: ending) {
          sentences += check(Prose.starredComments(in: try repository.text(of: file)), of: file)
        }
      }
    }
    #expect(sentences > 20)
  }

  @Test func docstringsNameTheirSubjectAndAreShort() throws {
    var sentences = 0
    for folder in ["Tests", "bench", "demo", "examples", "packaging"] {
      for file in try repository.files(below: folder, ending: ".py") {
        sentences += check(Prose.docstrings(in: try repository.text(of: file)), of: file)
      }
    }
    #expect(sentences > 500)
  }

  @Test func textsOfRefreshctlNameTheirSubjectAndAreShort() throws {
    var sentences = 0
    for file in try repository.files(below: "Sources/refreshctl", ending: ".swift") {
      sentences += check(Prose.literals(in: try repository.text(of: file)), of: file)
    }
    #expect(sentences > 1000)
  }

  @Test func pagesNameTheirSubjectAndAreShort() throws {
    for page in try repository.pages() {
      check(Prose.paragraphs(of: try repository.text(of: page)), of: page)
    }
  }

  @Test func sentencesOfPagesAreShortOnAverage() throws {
    for page in try repository.pages() {
      let counts = Prose.paragraphs(of: try repository.text(of: page)).flatMap { Prose.sentences(of: $0.text) }
        .map(\.count)
      #expect(
        counts.reduce(0, +) <= 20 * counts.count,
        "\(page) has \(counts.reduce(0, +)) words in \(counts.count) sentences; make two of the longest ones")
    }
  }

  /// Reports the problems of the sentences of a file, and gives their number.
  @discardableResult private func check(_ blocks: [Prose.Block], of file: String) -> Int {
    var sentences = 0
    for block in blocks {
      for sentence in Prose.sentences(of: block.text) {
        sentences += 1
        if let problem = Prose.problem(of: sentence) {
          Issue.record("\(file):\(block.line) \(problem): \(sentence.prefix(12).joined(separator: " "))")
        }
      }
    }
    return sentences
  }

  @Test func theRulesHold() {
    #expect(Prose.problem(of: "What it is called with.".split(separator: " ")) != nil)
    #expect(Prose.problem(of: "What is it called with?".split(separator: " ")) == nil)
    #expect(Prose.problem(of: "The parameters of the method.".split(separator: " ")) == nil)
    #expect(Prose.problem(of: Array(repeating: "word", count: 46)) != nil)
    #expect(Prose.problem(of: Array(repeating: "word", count: 45)) == nil)
    let text = "The size. `What it` is, e.g. that one: Those are many; and. One more"
    #expect(
      Prose.sentences(of: text).map { $0.joined(separator: " ") } == [
        "The size.", "X is, e.g. that one:", "Those are many; and.", "One more",
      ])
  }

  @Test func commentsAreFound() {
    let code = Data(
      "// First line\n// goes on.\nlet x = 1  // not this\n  /// - Parameter x: no.\n  /// - an item\n".utf8)
    #expect(Prose.comments(in: code, hasHashes: false).map(\.text) == ["First line goes on.", "- an item"])
    let starred = "/* One\n * two\n *\n * Three. */\nint x; /* not this */\n/** Four */\n"
    #expect(Prose.starredComments(in: starred).map(\.text) == ["One two", "Three. ", "Four "])
    #expect(Prose.starredComments(in: starred).map(\.line) == [1, 4, 6])
  }

  @Test func docstringsAreFound() {
    let python = """
      \"""First
      line.

          a    table
          of   two
      \"""
      def f(x):
          r\"""Second.\"""
          return g(
              \"""No docstring.
              It is data.\"""
          )
      DATA = \"""
      Data too: \"""
      X = 3
      \"""Third.\"""
      """
    #expect(
      Prose.docstrings(in: python).map(\.text) == ["First line.", "a    table", "of   two", "Second.", "Third."])
    #expect(Prose.docstrings(in: python).map(\.line) == [1, 4, 5, 8, 16])
  }

  @Test func literalsAreFound() {
    let swift = """
      let a = "First \\(b("x", 2)) \\"one\\"", c = "Second"
      // "not this"
      f(
        "Third "
          + "goes on", g: \"""
          Fourth \\
          line.

          Fifth.
          \""")
      """
    #expect(
      Prose.literals(in: swift).map(\.text) == [
        "First X XoneX", "Second", "Third goes on", "Fourth  line.", "Fifth.",
      ])
  }
}

extension Prose {
  fileprivate static func problem(of sentence: [String]) -> String? { problem(of: sentence.map { $0[...] }) }
}
