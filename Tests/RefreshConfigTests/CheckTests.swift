import Glibc
import RefreshEngine
import Testing

@testable import RefreshConfig

@Suite("`check` warns of secrets that others can read") struct SecretWarningTests {
  /// The warnings of the files, a line each, with paths relative to the directory.
  private func warnings(_ scratch: Scratch) -> [String] {
    Configuration.problems(in: .directory(scratch.path), as: FetchTests.reader).map {
      #expect($0.isWarning)
      return "\($0)".replacing("\(scratch.path)/", with: "")
    }
  }

  private func app(_ keys: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("apps.d/a.b.toml", "id = \"a.b\"\n[[task]]\nhttp = { to = \"/srv/x\", \(keys) }\n")
    return scratch
  }

  @Test(
    "a login of a task by http:// is one, beyond this machine",
    arguments: [
      (#"url = "http://h/x", netrc = true"#, "a login"), (#"url = "http://h/x", headers_file = "/n""#, "a login"),
      (#"url = "https://h/x", netrc = true"#, nil), (#"url = "http://h/x""#, nil),
      (#"url = "http://127.0.0.1:80/x", netrc = true"#, nil), (#"url = "http://[::1]:80/x", netrc = true"#, nil),
    ])
  func logins(_ keys: String, _ secret: String?) throws {
    let expected = secret.map {
      "apps.d/a.b.toml: url: cannot protect \($0) on the way to h: http:// is not encrypted; "
        + "use https://, unless you trust that network"
    }
    #expect(try warnings(app(keys)) == [expected].compactMap(\.self))
  }

  @Test("a ping of the defaults by http:// is one, of the file that has it")
  func pings() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[defaults]\nping = \"http://h/x\"\n")
    for id in ["a.a", "a.b"] { try scratch.write("apps.d/\(id).toml", "id = \"\(id)\"\n[[task]]\nshell = \"true\"\n") }
    try scratch.write("apps.d/a.c.toml", "id = \"a.c\"\nping = \"http://h/y\"\n[[task]]\nshell = \"true\"\n")
    let text =
      "ping: cannot protect the URL of the ping, which is a secret, on the way to h: http:// is not encrypted; "
      + "use https://, unless you trust that network"
    #expect(warnings(scratch).sorted() == ["apps.d/a.c.toml: \(text)", "refreshd.toml: \(text)"])
  }

  @Test("a password in an app's file that all may read is one")
  func passwords() throws {
    let scratch = try app(#"url = "https://ann:pw@h/x""#)
    chmod("\(scratch.path)/apps.d/a.b.toml", 0o644)
    #expect(
      warnings(scratch) == [
        "apps.d/a.b.toml: url: cannot keep a password in a file that everyone can read; "
          + "put it in a credential_file with mode 0600"
      ])
    chmod("\(scratch.path)/apps.d/a.b.toml", 0o640)
    #expect(warnings(scratch).isEmpty)
  }

  @Test("a file with secrets that others may read is one")
  func files() throws {
    let scratch = try Scratch()
    try scratch.write("secret", "ann:pw\n")
    try scratch.write(
      "apps.d/a.b.toml",
      "id = \"a.b\"\n[[task]]\nhttp = { url = \"https://h\", to = \"/srv/x\", credential_file = \"\(scratch.path)/secret\" }"
    )
    try scratch.writePush(
      "[[mqtt]]\nname = \"a\"\nhost = \"h\"\ncredential_file = \"\(scratch.path)/secret\"\n", mode: 0o640)
    chmod("\(scratch.path)/secret", 0o644)
    #expect(
      warnings(scratch).map { String($0.prefix { $0 != "\"" }) } == [
        "apps.d/a.b.toml: credential_file: cannot keep secrets in ",
        "push.toml: mqtt.credential_file: cannot keep secrets in ",
      ])
    chmod("\(scratch.path)/secret", 0o640)
    #expect(warnings(scratch).count == 1)
    chmod("\(scratch.path)/secret", 0o600)
    #expect(warnings(scratch).isEmpty)
  }

  @Test("messages of a source without TLS are one, beyond this machine")
  func sources() throws {
    let scratch = try Scratch()
    func of(_ text: String) throws -> [String] {
      try scratch.writePush(text)
      return warnings(scratch)
    }
    #expect(
      try of("[[mqtt]]\nname = \"a\"\nhost = \"h\"\ntls = false\ncredential_file = \"c\"\n") == [
        "push.toml: mqtt.tls: cannot protect messages and the password on the way to h; "
          + "remove tls = false, unless you trust that network"
      ])
    #expect(try of("[[mqtt]]\nname = \"a\"\nhost = \"::1\"\ntls = false\n").isEmpty)
    #expect(try of("[[mqtt]]\nname = \"a\"\nhost = \"localhost\"\ntls = false\n").isEmpty)
    let ntfy = "name = \"a\"\ntopics = { \"a.b\" = \"up\" }\nurl = "
    #expect(
      try of("[[ntfy]]\n\(ntfy)\"http://h:8080\"\n") == [
        "push.toml: url: cannot protect topics, which are secrets, on the way to h:8080: http:// is not encrypted; "
          + "use https://, unless you trust that network"
      ])
    #expect(try of("[[ntfy]]\n\(ntfy)\"https://h\"\n").isEmpty)
    #expect(try of("[[sse]]\nname = \"a\"\napp = \"a.b\"\nurl = \"http://h\"\n").isEmpty)
  }
}

@Suite("`check` warns of files that nothing reads") struct MisplacedFilesTests {
  private func warnings(_ files: [String]) throws -> [String] {
    let scratch = try Scratch()
    for file in files { try scratch.write(file, "") }
    return Configuration.problems(in: .directory(scratch.path), as: FetchTests.reader).map {
      #expect($0.isWarning)
      return "\($0)".replacing("\(scratch.path)/", with: "")
    }
  }

  @Test("an app's file beside apps.d is one")
  func besideTheFolder() throws {
    #expect(
      try warnings(["mail.toml", "refreshd.toml", "apps.d/feeds.toml"])
        == ["mail.toml: the file is ignored: app files belong in apps.d; move it to apps.d, or remove it"])
  }

  @Test("a file whose name has letters in upper case is one")
  func upperCase() throws {
    let start = "the file is ignored: its name has uppercase letters;"
    #expect(
      try warnings(["apps.d/mail.TOML"]) == ["apps.d/mail.TOML: \(start) rename it to mail.toml, or remove it"])
    #expect(
      try warnings(["apps.d/mail.TOML", "apps.d/mail.toml", "Refreshd.toml"]) == [
        "Refreshd.toml: \(start) rename it to refreshd.toml, or remove it",
        "apps.d/mail.TOML: \(start) remove it; mail.toml already exists",
      ])
  }

  @Test("a hidden file, a copy, a note and a folder are none")
  func others() throws {
    #expect(try warnings(["apps.d/.mail.toml.swp", "apps.d/.x.TOML", "apps.d/mail.toml.bak", "apps.d/README"]) == [])
    #expect(try warnings(["notes", "old.toml/notes"]) == [])
  }
}
