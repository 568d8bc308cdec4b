import RefreshEngine
import Testing

@testable import RefreshConfig

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
        == ["mail.toml: the file is not read: apps have theirs in apps.d; move it to apps.d, or remove it"])
  }

  @Test("a file whose name has letters in upper case is one")
  func upperCase() throws {
    let start = "the file is not read: its name has letters in upper case;"
    #expect(
      try warnings(["apps.d/mail.TOML"]) == ["apps.d/mail.TOML: \(start) rename it to mail.toml, or remove it"])
    #expect(
      try warnings(["apps.d/mail.TOML", "apps.d/mail.toml", "Refreshd.toml"]) == [
        "Refreshd.toml: \(start) rename it to refreshd.toml, or remove it",
        "apps.d/mail.TOML: \(start) remove it; there is a mail.toml",
      ])
  }

  @Test("a hidden file, a copy, a note and a folder are none")
  func others() throws {
    #expect(try warnings(["apps.d/.mail.toml.swp", "apps.d/.x.TOML", "apps.d/mail.toml.bak", "apps.d/README"]) == [])
    #expect(try warnings(["notes", "old.toml/notes"]) == [])
  }
}
