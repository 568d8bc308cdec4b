import Glibc
import Testing

@testable import Systemd

@Suite struct JournalTests {
  @Test(arguments: [
    (JournalEntry("3 apps"), "3 apps\n"),
    (JournalEntry("new configuration", priority: .notice), "new configuration\n"),
    (JournalEntry("cannot save", priority: .error), "error: cannot save\n"),
    (JournalEntry("cannot start", priority: .critical), "critical: cannot start\n"),
    (JournalEntry("nearly full", priority: .warning), "warning: nearly full\n"),
    (JournalEntry("turn 3", priority: .debug), "debug: turn 3\n"),
    (JournalEntry("2 mistakes:\na.toml:1: x\nb.toml:2: y"), "2 mistakes:\n  a.toml:1: x\n  b.toml:2: y\n"),
    (JournalEntry("red \u{1B}[31m\u{7}\ttab é"), "red \u{FFFD}[31m\u{FFFD}\ttab é\n"),
    (JournalEntry("a\u{202E}b\u{2028}c\u{200B}👩\u{200D}🚀"), "a\u{FFFD}b\u{FFFD}c\u{FFFD}👩\u{200D}🚀\n"),
    (JournalEntry("fields stay away", fields: [.init("REFRESH_APP", "org.example.todo")]), "fields stay away\n"),
  ])
  func anEntryIsALineForAPerson(entry: JournalEntry, line: String) {
    #expect(TextStyle().line(of: entry) == line)
  }

  @Test func onATerminalOnlyThePriorityHasAColour() {
    let style = TextStyle(hasColour: true)
    #expect(style.line(of: JournalEntry("x", priority: .error)) == "\u{1B}[31merror:\u{1B}[0m x\n")
    #expect(style.line(of: JournalEntry("x")) == "x\n")
  }

  @Test func theTimeComesFirst() {
    let line = TextStyle(showsTime: true).line(of: JournalEntry("x"))
    #expect(line.wholeMatch(of: /[0-2][0-9]:[0-5][0-9]:[0-6][0-9] x\n/) != nil)
  }

  @Test func aPipeIsNoTerminal() {
    #expect(TextStyle(of: Pipe().writing) == TextStyle(showsTime: false, hasColour: false))
  }

  @Test func aTerminalGetsTheTime() throws {
    let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
    defer { close(terminal) }
    try #require(terminal >= 0)
    #expect(TextStyle(of: terminal).showsTime)
  }

  @Test func longTextIsWrittenInFull() async throws {
    let pipe = Pipe()
    let message = String(repeating: "x", count: 200_000)
    let descriptor = pipe.writing
    async let written: Void = onAnotherThread {
      let journal = Journal(
        identifier: "refreshd", destination: .text(TextOutput(descriptor: descriptor), style: TextStyle()))
      journal.write(JournalEntry(message))
    }
    var text = ""
    while !text.hasSuffix("\n") { text += pipe.read() }
    try await written
    #expect(text == message + "\n")
  }

  @Test func theJournalGetsEveryField() {
    let journal = Journal(identifier: "refreshd", destination: .journal(JournalSocket(identifier: "refreshd")))
    let entry = JournalEntry(
      "first\nsecond", priority: .warning, messageID: 0x0a, fields: [.init("REFRESH_APP", "org.example.todo")])
    #expect(
      journal.assignments(of: entry, file: "Module/File.swift", line: 7) == [
        "MESSAGE=first\nsecond", "PRIORITY=4", "SYSLOG_IDENTIFIER=refreshd", "CODE_FILE=Module/File.swift",
        "CODE_LINE=7", "MESSAGE_ID=0000000000000000000000000000000a", "REFRESH_APP=org.example.todo",
      ])
  }
}
