import RefreshConfig
import RefreshEngine
import Testing

@Suite("The kind of an app") struct KindTests {
  static func load(_ text: String, main: String = "") throws -> Policy {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", main)
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n\(text)\n[[task]]\nrun = [\"true\"]\n")
    return try #require(try scratch.load().apps.first).policy
  }

  @Test("short work asks for nothing", arguments: ["", #"kind = "refresh""#])
  func short(text: String) throws {
    let policy = try Self.load(text)
    #expect(policy == Policy(tasks: [TaskPolicy(name: "true")]))
    #expect(!policy.isProcessing)
  }

  @Test(
    "long work needs an idle user and mains power, whatever [defaults] have, and may take ten minutes",
    arguments: ["", "[defaults]\nidle = false\npower = \"not-low\"\nmetered_when_stale = true\ndeadline = \"1min\""])
  func long(main: String) throws {
    let policy = try Self.load(#"kind = "processing""#, main: main)
    #expect(policy.isProcessing)
    #expect(policy.constraints.idle)
    #expect(policy.constraints.power == .ac)
    #expect(policy.deadline == .minutes(10))
  }

  @Test("long work has the deadline of its own file, within the cap")
  func deadline() throws {
    #expect(try Self.load("kind = \"processing\"\ndeadline = \"2min\"").deadline == .minutes(2))
    #expect(try Self.load(#"kind = "processing""#, main: #"deadline_cap = "5min""#).deadline == .minutes(5))
    #expect(
      try Self.load("kind = \"processing\"\ndeadline = \"2h\"", main: #"deadline_cap = "3h""#).deadline == .hours(2))
  }

  @Test("a file may repeat the constraints that the kind implies")
  func said() throws {
    #expect(
      try Self.load("kind = \"processing\"\nidle = true\npower = \"ac\"\nmetered_when_stale = false").isProcessing)
  }

  @Test("a contradicting key is a mistake with its line")
  func contradictions() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      """
      id = "a.b"
      idle = false
      power = "not-low"
      metered_when_stale = true
      kind = "processing"
      [[task]]
      run = ["true"]
      """)
    let remedy = #"remove the key, or write kind = "refresh""#
    #expect(
      scratch.problems() == [
        "apps.d/x.toml:2: idle: cannot do long work while somebody uses the machine; \(remedy)",
        #"apps.d/x.toml:3: power: cannot do long work with power = "not-low": it needs mains power; \#(remedy)"#,
        "apps.d/x.toml:4: metered_when_stale: cannot relax the constraints of long work, however old its data is; "
          + remedy,
      ])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nkind = \"long\"\n")
    #expect(
      scratch.problems() == [
        #"apps.d/x.toml:2: kind: cannot use "long" here; write "refresh", "guard" or "processing""#
      ])
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n")
    try scratch.write("refreshd.toml", "[defaults]\nkind = \"processing\"")
    #expect(
      scratch.problems() == [
        "refreshd.toml:2: defaults.kind: unknown key; put it in an app's file"
      ])
  }
}
