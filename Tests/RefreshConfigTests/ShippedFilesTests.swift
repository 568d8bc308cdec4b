import Foundation
import RefreshConfig
import RefreshEngine
import Testing

@Suite("The files in config/") struct ShippedFilesTests {
  static let config = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "config")
  static let app = "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\n"

  static func text(_ file: String) throws -> String {
    try String(contentsOf: config.appending(path: file), encoding: .utf8)
  }

  /// A configuration of this `refreshd.toml` and one app that leaves out all it can.
  static func load(_ text: String) throws -> Configuration {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    try scratch.write("apps.d/a.b.toml", app)
    return try scratch.load()
  }

  /// The shipped file with every default switched on.
  static func uncommented(_ file: String = "refreshd.toml") throws -> String {
    try text(file).split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.hasPrefix("#") && !$0.hasPrefix("# ") ? $0.dropFirst() : $0 }.joined(separator: "\n")
  }

  @Test("refreshd.toml as shipped changes nothing")
  func commented() throws {
    let configuration = try Self.load(try Self.text("refreshd.toml"))
    #expect(configuration.limits == Limits())
    #expect(configuration.transfers == TransferSettings())
    #expect(configuration.apps[0].policy == Policy(tasks: [TaskPolicy(name: "true")]))
  }

  @Test("refreshd.toml shows the defaults that are in the code")
  func shownDefaults() throws {
    let configuration = try Self.load(try Self.uncommented())
    #expect(configuration.limits == Limits())
    #expect(configuration.transfers == TransferSettings())
    #expect(configuration.apps[0].policy == Policy(tasks: [TaskPolicy(name: "true")]))
    #expect(configuration.apps[0].commands == [Command(arguments: ["/usr/bin/true"])])
  }

  @Test("refreshd.toml shows every known key", arguments: ["", "[defaults]\n", "[transfers]\n"])
  func everyKey(table: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try Self.load(table + "no_key_is_like_this_one = 1") }
    let remedy = try #require(error?.problems.first?.remedy)
    let keys = remedy.dropFirst("the keys here are ".count).split(separator: ", ")
    #expect(keys.count >= 3)
    let shown = try Self.uncommented()
    for key in keys {
      #expect(shown.contains("\n\(key) = ") || shown.contains("\n[\(key)]\n") || shown.contains("(\(key) = "), "\(key)")
    }
  }

  @Test(
    "the example apps are valid, wherever their programs are",
    arguments: [("org.example.backup", false), ("org.example.mail", true), ("org.example.mirror", true)])
  func examples(id: String, looksForChange: Bool) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/\(id).toml", try Self.text("apps.d/\(id).toml"))
    let app = try #require(try scratch.load().apps.first)
    #expect(app.id == AppID(id))
    #expect((app.sandbox == AppSandbox()) == looksForChange)
    #expect(app.policy.isProcessing == (id == "org.example.backup"))
    #expect(app.policy.tasks.allSatisfy { if case .changed = $0.newData { looksForChange } else { !looksForChange } })
  }

  @Test("the example of a fetch is valid, also with all its keys")
  func feed() throws {
    let scratch = try Scratch()
    let text = try Self.text("apps.d/org.example.feed.toml")
    // Enables all commented keys except the key that another key excludes.
    let all = text.split(separator: "\n").map { line in
      line.split(separator: " ").dropFirst(2).first == "=" && !line.contains("netrc") ? line.dropFirst(2) : line
    }
    for text in [text, all.joined(separator: "\n")] {
      try scratch.write("apps.d/org.example.feed.toml", text)
      let app = try #require(try scratch.load(as: FetchTests.reader).apps.first)
      #expect(app.commands[0].fetch?.url == "https://example.org/feed.xml")
    }
    #expect(all.contains { $0.hasPrefix("credential_file = ") })
  }

  @Test("the example of a replication is valid, and pulls and pushes")
  func notes() throws {
    let scratch = try Scratch()
    let text = try Self.text("apps.d/org.example.notes.toml")
    let all = text.replacing("# create_target", with: "create_target").replacing("# selector", with: "selector")
    for text in [text, all] {
      try scratch.write("apps.d/org.example.notes.toml", text)
      let app = try #require(try scratch.load(as: FetchTests.reader).apps.first)
      let directions = app.commands.compactMap { $0.replication.map { [$0.source.url.host, $0.target.url.host] } }
      #expect(directions == [["db.example.org", "localhost:5984"], ["localhost:5984", "db.example.org"]])
      #expect(
        app.commands.compactMap(\.replication?.server.url.text) == ["http://localhost:5984", "http://localhost:5984"])
    }
  }
}
