import RefreshConfig
import Testing

@Suite("A mistake that people make often is named as what it is") struct EverydayMistakesTests {
  static let app = "id = \"org.example.todo\"\n"
  static let task = "\n[[task]]\nrun = [\"true\"]\n"

  private func problems(_ line: String) throws -> [String] {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", Self.app + line + Self.task)
    return scratch.problems()
  }

  @Test(
    "a text without quotes",
    arguments: [
      "network = any", "network = none", "deadline = 5min", "max_stale = 3d", "quiet = 22:00-06:00", "name = Todo App",
      "idle = yes", "idle = True", "network = unmetered  # at home", "name = “Todo”",
    ])
  func quotes(line: String) throws {
    let problems = try problems(line)
    #expect(problems.count == 1)
    #expect(problems[0].contains(#"; put text in quotes, as in "any" or "5min", but not true or false; "#))
  }

  @Test(
    "a text without its closing quote",
    arguments: ["name = \"Todo", "name = 'Todo", "name = \"Töd\\\"", "name = \"Todo\r", "on_stale = [\"true]"])
  func closingQuote(line: String) throws {
    let problems = try problems(line)
    #expect(problems.count == 1)
    #expect(
      problems[0].hasSuffix("cannot read the file as TOML: a string is not closed on its line; add the closing quote"))
  }

  @Test("a control character within a text is no missing quote")
  func control() throws {
    let problems = try problems("name = \"To\u{1}do\"")
    #expect(problems.count == 1)
    #expect(problems[0].contains("control characters"))
  }

  @Test("a key in the other file")
  func otherFile() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "network = \"any\"\nowner = \"root\"\n[[task]]\nrun = [\"true\"]\n")
    try scratch.write(
      "apps.d/x.toml", Self.app + "max_concurrent = 2\n[transfers]\nbandwidth = \"1MB\"\n" + Self.task)
    let unknown = "unknown key"
    #expect(
      scratch.problems() == [
        "apps.d/x.toml:2: max_concurrent: \(unknown); put it in refreshd.toml",
        "apps.d/x.toml:3: transfers: \(unknown); put it in refreshd.toml",
        "refreshd.toml:1: network: \(unknown); put it below [defaults] for all apps, or in an app's file",
        "refreshd.toml:2: owner: \(unknown); put it in an app's file",
        "refreshd.toml:3: task: \(unknown); put it in an app's file",
      ])
  }

  @Test("a key of one letter is like no other key")
  func short() throws {
    #expect(try problems("x = 1").map { $0.contains("the keys here are background_") } == [true])
    #expect(try problems("ide = true").map { $0.hasSuffix("did you mean id?") } == [true])
  }

  @Test(
    "an id against the rules says all of them",
    arguments: ["org.1example.todo", "org.example.tödo", "todo", "org..todo"])
  func id(text: String) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"\(text)\"\n" + Self.task)
    #expect(
      scratch.problems() == [
        "apps.d/x.toml:1: id: cannot use \"\(text)\" as an app id; write two or more parts of letters, digits, _ "
          + "and -, none of which begins with a digit, in 255 bytes at most, as in \"org.example.todo\""
      ])
  }

  @Test("a file of comments masks the vendor's, as an empty one does, and is no app")
  func comments() throws {
    let scratch = try Scratch()
    try scratch.write("data/refreshd/apps.d/x.toml", Self.app + Self.task)
    try scratch.write("run/refreshd/apps.d/x.toml", "# id = \"org.example.todo\"\n")
    #expect(try SourcesTests.names(in: scratch) == [])
  }

  @Test("a second file for an app of the vendor's needs the name of the first")
  func secondFile() throws {
    let scratch = try Scratch()
    try scratch.write("data/refreshd/apps.d/vendor.toml", Self.app + Self.task)
    try scratch.write("run/refreshd/apps.d/own.toml", Self.app + Self.task)
    do throws(ConfigurationError) {
      _ = try Configuration.load(from: SourcesTests.sources(in: scratch), as: .anybody)
      Issue.record("both files are in force")
    } catch {
      #expect(
        error.problems.map(\.remedy) == [
          "give both files the same name, so that the stronger directory wins, or remove one"
        ])
    }
  }
}
