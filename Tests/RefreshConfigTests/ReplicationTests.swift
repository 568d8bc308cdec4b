import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("The task kind `replicate` has CouchDB replicate a database") struct ReplicationTests {
  static func replication(_ table: String) throws -> Replication {
    try #require(try FetchTests.load("[task.replicate]\n\(table)").commands[0].replication)
  }

  /// The problems of a table whose first line is the fourth of the file.
  static func problems(_ table: String) throws -> [String] {
    try FetchTests.problems("[task.replicate]\n\(table)")
  }

  @Test("the shortest task runs the worker, and asks the CouchDB of this machine")
  func shortest() throws {
    let app = try FetchTests.load(
      #"replicate = { source = "https://db.example.org/notes/", target = "http://localhost:5984/notes" }"#)
    #expect(app.policy.tasks == [TaskPolicy(name: "replicate")])
    #expect(app.commands[0].arguments == ["/usr/libexec/refresh-worker", "replicate"])
    let replication = try #require(app.commands[0].replication)
    #expect(replication.source.url.text == "https://db.example.org/notes")
    #expect(replication.target.url.text == "http://localhost:5984/notes")
    #expect(replication.server.url.text == "http://localhost:5984")
    #expect(!replication.createsTarget && replication.selector == nil && replication.server.credentialFile == nil)
  }

  @Test(
    "the server is the side on this machine, the target first, or the one that the file names",
    arguments: [
      ("http://localhost:5984/a", "https://db.example.org/a", "", "http://localhost:5984"),
      ("http://127.0.0.1:1/a", "http://[::1]:5984/couch/b", "", "http://[::1]:5984/couch"),
      ("https://one.example/a", "https://two.example/a", "https://one.example/", "https://one.example"),
    ])
  func server(source: String, target: String, server: String, expected: String) throws {
    let line = server.isEmpty ? "" : "server = \"\(server)\""
    let replication = try Self.replication("source = \"\(source)\"\ntarget = \"\(target)\"\n\(line)")
    #expect(replication.server.url.text == expected)
  }

  @Test("the login of a database is good for its server, and ~/ is the owner's home")
  func logins() throws {
    let urls = "source = \"https://db.example.org/notes\"\ntarget = \"http://localhost:5984/notes\"\n"
    let home = try FetchTests.load("run = [\"/usr/bin/true\"]").owner.home
    let one = try Self.replication(
      urls + "source_headers_file = \"~/there\"\ntarget_credential_file = \"~/here\"")
    #expect(one.source.headersFile == "\(home)/there" && one.target.credentialFile == "\(home)/here")
    #expect(one.server.credentialFile == "\(home)/here" && one.server.headersFile == nil)
    let other = try Self.replication(urls + "target_headers_file = \"/here\"\nserver_credential_file = \"/admin\"")
    #expect(other.server.credentialFile == "/admin" && other.server.headersFile == nil)
  }

  @Test("a selector is a table, and becomes JSON")
  func selector() throws {
    let replication = try Self.replication(
      """
      source = "https://db.example.org/notes"
      target = "http://localhost:5984/notes"
      selector = { type = "no\\"te", year = { "$gt" = 2020, "$lt" = 2.5 }, tags = ["a", true] }
      create_target = true
      """)
    #expect(
      replication.selector == #"{"tags":["a",true],"type":"no\"te","year":{"$gt":2020,"$lt":2.5}}"#)
    #expect(replication.createsTarget)
  }

  @Test("each mistake has its line and key, and shows nothing of a URL")
  func mistakes() throws {
    #expect(
      try Self.problems(
        """
        source = "https://anna:secret@db.example.org/notes"
        target = "http://localhost:5984/"
        source_credential_file = "relative"
        target_credential_file = "/a"
        target_headers_file = "/b"
        selector = { day = 2026-01-01 }
        filter = "x"
        """) == [
          "4: task.replicate.source: cannot use a user or password in this URL: programs and logs show it; "
            + "put user:password in a file with mode 0600, and its path in source_credential_file",
          "5: task.replicate.target: the URL has no database name after the host; "
            + "write it as in http://localhost:5984/notes",
          #"6: task.replicate.source_credential_file: cannot use "relative" as a file: "#
            + "the path is not absolute; begin with a slash",
          "8: task.replicate.target_headers_file: cannot log in twice to one database; "
            + "use either target_credential_file or target_headers_file",
          "9: task.replicate.selector: cannot write a date or time in JSON; write it as a string, in quotes",
          "10: task.replicate.filter: unknown key; the keys here are create_target, "
            + "selector, server, server_credential_file, source, source_credential_file, source_headers_file, target, "
            + "target_credential_file, target_headers_file",
        ])
  }

  @Test("a table without databases, of one database, or without a server is refused")
  func missing() throws {
    #expect(
      try FetchTests.problems("replicate = {}") == [
        "3: task.replicate.source: cannot replicate without a source; write for example \(Replication.example)",
        "3: task.replicate.target: cannot replicate without a target; write for example \(Replication.example)",
      ])
    #expect(
      try Self.problems("source = \"http://localhost:5984/a\"\ntarget = \"http://localhost:5984/a/\"") == [
        "5: task.replicate.target: cannot replicate a database into itself; write the URL of another database"
      ])
    #expect(
      try Self.problems("source = \"https://a.example/a\"\ntarget = \"https://a.example/b?x=y\"") == [
        "5: task.replicate.target: cannot use a query in the URL of a CouchDB; remove it"
      ])
    #expect(
      try Self.problems("source = \"https://a.example/a\"\ntarget = \"https://b.example/b\"") == [
        "3: task.replicate.server: cannot choose a CouchDB to replicate: neither database is on this machine; "
          + #"write the URL of one, as in server = "http://localhost:5984""#
      ])
  }

  @Test("a login that goes unencrypted to another machine is warned of, and a certificate that CouchDB may not check")
  func warnings() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      """
      id = "a.b"
      [[task]]
      [task.replicate]
      source = "https://db.example.org/notes"
      target = "http://nas.example:5984/notes"
      server = "http://nas.example:5984"
      source_credential_file = "/none"
      """)
    var warnings = SecretWarnings()
    warnings.look(at: try scratch.load(as: FetchTests.reader))
    #expect(
      warnings.warnings.map { "\($0)".replacing("\(scratch.path)/", with: "") } == [
        "apps.d/x.toml: source: cannot tell whether CouchDB checks the certificate of db.example.org, which it does not do "
          + "by default: anyone on the way could read and change the documents and the login; set verify_ssl_certificates = true "
          + "and ssl_trusted_certificates_file in [replicator] of CouchDB",
        "apps.d/x.toml: target: cannot protect a login on the way to nas.example:5984: http:// is not encrypted; "
          + "use https://, unless you trust that network",
      ])
  }

  @Test("the login of the server is that of the database with its origin that has one")
  func serverLogin() throws {
    let replication = try Self.replication(
      """
      source = "http://localhost:5984/a"
      target = "http://localhost:5984/b"
      source_credential_file = "/a"
      """)
    #expect(replication.server.credentialFile == "/a")
  }

  @Test(
    "the same host without a login or by https:// hides no warning",
    arguments: [
      ("http://nas.example:5984/a", "http://nas.example:5984/b", "http://localhost:5984", ["target"]),
      ("https://nas.example/a", "http://nas.example/b", "https://nas.example", ["source", "target"]),
    ])
  func sameHost(_ source: String, _ target: String, _ server: String, _ keys: [String]) throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      """
      id = "a.b"
      [[task]]
      [task.replicate]
      source = "\(source)"
      target = "\(target)"
      server = "\(server)"
      target_credential_file = "/none"
      """)
    var warnings = SecretWarnings()
    warnings.look(at: try scratch.load(as: FetchTests.reader))
    #expect(warnings.warnings.map(\.key) == keys)
  }
}
