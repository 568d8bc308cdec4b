import RefreshConfig
import RefreshEngine
import Testing

@Suite("Pinned numbers in an app's file") struct PinTests {
  static func policy(_ lines: String) throws -> Policy {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n[[task]]\nrun = [\"true\"]\n\(lines)")
    return try #require(try scratch.load().apps.first).policy
  }

  @Test("replace learned ones; the others are learned")
  func pins() throws {
    var pins = Pins()
    #expect(try Self.policy("").pins == pins)
    pins.openings = [12 * 60, 7 * 60 + 30]
    #expect(try Self.policy("[pin]\nopenings = [\"12:00\", \"07:30\"]").pins == pins)
    (pins.newDataPerDay, pins.cost) = (6.5, 2)
    let all = "[pin]\nopenings = [\"12:00\", \"07:30\"]\nnew_data_per_day = 6.5\ncost = 2"
    #expect(try Self.policy(all).pins == pins)
  }

  @Test(
    "a duration is the schedule, and auto, the default, learns it above a floor",
    arguments: [
      ("", .auto()), (#"background_interval = "auto""#, .auto()), (#"background_interval = "1h""#, .every(.hours(1))),
      (#"background_interval = "never""#, .never), (#"background_floor = "1h""#, .auto(floor: .hours(1))),
    ] as [(String, BackgroundInterval)])
  func backgroundInterval(keys: String, interval: BackgroundInterval) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\n\(keys)\n[[task]]\nrun = [\"true\"]")
    #expect(try scratch.load().apps.first?.policy.backgroundInterval == interval)
  }

  @Test("out of bounds are refused with their lines")
  func mistakes() throws {
    let scratch = try Scratch()
    try scratch.write(
      "apps.d/x.toml",
      """
      id = "a.b"
      [[task]]
      run = ["true"]
      [pin]
      openings = ["noon"]
      new_data_per_day = 0
      cost = "2"
      cheap = true
      """)
    #expect(
      scratch.problems() == [
        #"apps.d/x.toml:5: pin.openings: cannot read "noon" as a time of day; write 00:00 to 23:59, as in "12:00""#,
        "apps.d/x.toml:6: pin.new_data_per_day: cannot use 0.0: it is out of range; write 0.01 to 1000.0",
        "apps.d/x.toml:7: pin.cost: cannot use a string here; write for example cost = 2.0",
        "apps.d/x.toml:8: pin.cheap: unknown key; "
          + "the keys here are cost, new_data_per_day, openings",
      ])
  }

  @Test func anEmptyListOfOpeningsIsRefused() throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\npin = { openings = [] }\n[[task]]\nrun = [\"true\"]")
    #expect(
      scratch.problems() == [
        "apps.d/x.toml:2: pin.openings: cannot pin an empty list; "
          + "write a time of day, or remove the key so that refreshd learns the openings"
      ])
  }
}
