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

  @Test("an app's file whose name ends in upper case is one")
  func upperCase() throws {
    #expect(
      try warnings(["apps.d/mail.TOML"]) == [
        #"apps.d/mail.TOML: the file is not read: its name does not end with ".toml" in lower case; "#
          + "rename it to mail.toml, or remove it"
      ])
  }

  @Test("a hidden file, a copy and a note are none")
  func others() throws {
    #expect(
      try warnings(["apps.d/.mail.toml.swp", "apps.d/.x.TOML", "apps.d/mail.toml.bak", "apps.d/README", "notes"]) == [])
  }
}
