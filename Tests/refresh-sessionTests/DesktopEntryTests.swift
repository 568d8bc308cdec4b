import Testing

@testable import refresh_session

/// Desktop files: their keys and their commands.
@Suite struct DesktopEntryTests {
  private func command(_ line: String) -> [String]? { DesktopEntry(text: "[Desktop Entry]\nExec=\(line)\n").command }

  @Test func `A command has its arguments without the places for files`() {
    #expect(command("geary %U") == ["geary"])
    #expect(command("sh -c \"echo \\\"a b\\\" 100%%\" --name=%c") == ["sh", "-c", "echo \"a b\" 100%", "--name="])
    #expect(command("env A= \"\" b") == ["env", "A=", "", "b"])
  }

  @Test(arguments: [
    ("geary %U", "geary"), ("/usr/bin/flatpak run --branch=stable --command=geary org.gnome.Geary @@u %U @@", "geary"),
    ("/usr/lib/mail/mail", "mail"), ("/", nil), ("%f", nil), ("flatpak run --command=/app/bin/mail x", "mail"),
    ("flatpak run x", "flatpak"),
  ])
  func `A program has a name`(line: String, name: String?) {
    #expect(DesktopEntry(text: "[Desktop Entry]\nExec=\(line)\n").program == name)
  }

  @Test(arguments: ["", "%f", "sh -c \"open", "sh -c \"a\\"]) func `A line that is not well formed is no command`(
    line: String
  ) {
    #expect(command(line) == nil)
  }

  @Test func `The first group counts, and of a key that is there twice the first`() {
    let text = "# Mail\n[Desktop Entry]\nName = Mail\nName=Other\n[Desktop Action new]\nExec=new\n"
    #expect(DesktopEntry(text: text)["Name"] == "Mail")
    #expect(DesktopEntry(text: text)["Exec"] == nil)
  }

  @Test(arguments: ["org.gnome.Evolution-alarm-notify", "mail", "näher"]) func `A unit of an app names its id`(
    id: String
  ) {
    #expect(DesktopUnit.desktopID(of: "app-refreshd-\(DesktopUnit.escaped(id))@12-7.service") == id)
  }
}
