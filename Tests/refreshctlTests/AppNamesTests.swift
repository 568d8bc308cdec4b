import RefreshAPI
import Testing

@testable import refreshctl

/// The app that a person means by a part of its id, and the message for a wrong command line.
@Suite struct AppNamesTests {
  private static let apps = [
    ("com.example.mail", "Mail"), ("org.example.mail", "Mail"), ("org.example.mail-archive", "Archive"),
    ("org.example.todo", "To do"), ("org.example.photos", "写真"),
  ].map { id, name in
    Wire.App(id: id, name: name, owner: "anna", phase: .background, verdict: .notDue, holds: [])
  }

  @Test(arguments: [
    ("org.example.mail", ["org.example.mail"]), ("todo", ["org.example.todo"]), ("ODO", ["org.example.todo"]),
    ("archive", ["org.example.mail-archive"]), ("写真", ["org.example.photos"]), ("to do", ["org.example.todo"]),
    ("mail", ["com.example.mail", "org.example.mail"]), ("mail-", ["org.example.mail-archive"]),
    ("org.example.tod", []), ("ample.todo", []), ("nothing", []),
    ("", []),
  ]) func aPartOfAnIDThatOnlyOneAppHasIsTheID(text: String, ids: [String]) {
    #expect(AppNames.apps(meantBy: text, among: Self.apps).map(\.id) == ids)
  }

  @Test(arguments: [
    ("tood", ["org.example.todo"]), ("org.exmaple.todo", ["org.example.todo"]), ("fotos", ["org.example.photos"]),
    ("backup", []),
  ]) func aMistypedIDIsGuessed(text: String, ids: [String]) {
    #expect(AppNames.ids(like: text, among: Self.apps) == ids)
  }

  @Test(arguments: [
    (["why"], "cannot read the command line: missing expected argument '<app>'; see `refreshctl why --help`"),
    (["set", "org.x.a"], "cannot set nothing; give --foreground or --background, as in `--background 1h`"),
    (["pause", "--for", "0s"], "cannot pause for less than a second; give --for a longer time, or run `resume`"),
    (["lst"], "cannot read the command line: unexpected argument 'lst'; did you mean list? see `refreshctl --help`"),
    (["nothing"], "cannot read the command line: unexpected argument 'nothing'; see `refreshctl --help`"),
  ]) func aWrongCommandLineIsToldLikeEveryError(arguments: [String], text: String) {
    #expect(throws: (any Error).self) { _ = try RefreshCtl.parseAsRoot(arguments) }
    do {
      _ = try RefreshCtl.parseAsRoot(arguments)
    } catch {
      #expect(RefreshCtl.refusal(of: error, in: ["refreshctl"] + arguments) == text)
    }
  }

  @Test func theHelpIsNoMistake() {
    do {
      var command = try RefreshCtl.parseAsRoot(["why", "--help"])
      try command.run()
      Issue.record("was understood")
    } catch {
      #expect(RefreshCtl.refusal(of: error, in: ["refreshctl", "why", "--help"]) == nil)
    }
  }
}
