import RefreshConfig
import RefreshEngine
import Testing

@Suite("The task kind `activate` has an app on the session bus refresh itself") struct ActivatedAppTests {
  /// The mistakes in the file of an app of a user, by line.
  private func problems(_ lines: String, owner: String = "daemon") throws -> [String] {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nowner = \"\(owner)\"\n[[task]]\n\(lines)\n")
    return scratch.problems(as: FetchTests.reader).map { $0.replacing("apps.d/x.toml:", with: "") }
  }

  @Test("the name is that of a service on the bus")
  func name() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      "id = \"a.b\"\nowner = \"daemon\"\n[[task]]\nactivate = \"org.example.Notes\"\nnew_data = \"changed:/srv/mail\"\n"
    )
    let app = try scratch.load(as: FetchTests.reader).apps[0]
    #expect(app.commands[0].arguments == ["/usr/libexec/refresh-worker", "activate"])
    #expect(app.commands[0].activation?.name == "org.example.Notes")
    #expect(app.policy.tasks[0].name == "activate")
  }

  @Test(
    "a text that is no name on the bus is refused", arguments: ["", "geary", "org..Geary", "org.7zip", "a.b/c", "a.ü"])
  func wrongName(_ name: String) throws {
    #expect(
      try problems("activate = \"\(name)\"") == [
        "4: task.activate: cannot use \"\(name)\" as the name of an app on the session bus; "
          + #"write the name of its desktop file, without ".desktop", as in "org.example.Notes""#
      ])
  }

  @Test("keys that say how a process is started and judged have no meaning for it")
  func keys() throws {
    #expect(
      try problems("activate = \"a.b\"\ndirectory = \"/srv\"\nnew_data = \"output\"\nretry_exit = 7") == [
        "5: task.directory: cannot set directory for an app that the session bus starts; "
          + "put it in the app's own service file in dbus-1/services",
        "6: task.new_data: cannot judge an app by its output: it goes to the session; "
          + #"write "exit" or "changed:/ABSOLUTE/PATH""#,
        "7: task.retry_exit: cannot judge activate by retry_exit: its exit code is unknown; remove the key",
      ])
  }

  @Test("it is the only task of its app")
  func alone() throws {
    #expect(
      try problems("activate = \"a.b\"\n[[task]]\nrun = [\"/usr/bin/true\"]") == [
        "4: task.activate: cannot combine activate with other tasks: an app that attaches performs the whole refresh; "
          + "move the other tasks to their own app file"
      ])
  }

  @Test("root has no session bus")
  func root() throws {
    #expect(
      try problems("activate = \"a.b\"", owner: "root") == [
        "2: owner: cannot activate an app for root: root has no session bus; "
          + #"name the app's user, as in owner = "anna""#
      ])
  }
}
