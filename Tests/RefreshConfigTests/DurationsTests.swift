import RefreshConfig
import RefreshEngine
import Testing

@Suite("Durations in systemd's form") struct DurationsTests {
  // The lengths are those that `systemd-analyze timespan` tells.
  @Test(
    "are read",
    arguments: [
      ("90", 90_000_000), ("0", 0), ("30s", 30_000_000), ("5min", 300_000_000), ("5 min", 300_000_000),
      ("5m", 300_000_000), ("1h 30min", 5_400_000_000), ("1h30min", 5_400_000_000), ("30min 1h", 5_400_000_000),
      (" 2 h ", 7_200_000_000), ("1h 30", 3_630_000_000), ("1.5h", 5_400_000_000), (".5h", 1_800_000_000),
      ("0.000001s", 1), ("24h", 86_400_000_000), ("1d", 86_400_000_000), ("2 days", 172_800_000_000),
      ("1w", 604_800_000_000), ("1month", 2_629_800_000_000), ("1M", 2_629_800_000_000), ("1y", 31_557_600_000_000),
      ("1us", 1), ("1µs", 1), ("1μs", 1), ("1usec", 1), ("1ms", 1000), ("1msec", 1000), ("1hr", 3_600_000_000),
      ("3 seconds 2 minutes 1 hour", 3_723_000_000), ("10y", 315_576_000_000_000),
    ] as [(String, Int64)]
  )
  func read(_ text: String, microseconds: Int64) throws {
    #expect(try Duration(systemd: text) == .microseconds(microseconds))
  }

  @Test(
    "are refused with a reason",
    arguments: [
      ("", "it is empty"), ("  ", "it is empty"), ("5 fortnights", "\"fortnights\" is not a unit of time"),
      ("5MIN", "\"MIN\" is not a unit of time"), ("-5min", "it is negative"), ("1h -5min", "it is negative"),
      ("min", "a number is missing before \"min\""), ("1h min", "a number is missing before \"min\""),
      ("5.min", "a digit is missing after the point"), ("10y 1us", "it is longer than 10 years"),
      ("11y", "it is longer than 10 years"), ("99999999999999999y", "it is longer than 10 years"),
      ("9223372036854775807us", "a number has too many digits"), ("0.5us", "it has a fraction of a microsecond"),
      ("0.1234567s", "it has a fraction of a microsecond"), ("infinity", "a number is missing before \"infinity\""),
      ("1.2.3h", "a number has two points"), ("0.0000000000001y", "a number has too many digits"),
      ("٣min", "a number is missing before \"٣min\""),
    ]
  )
  func refused(_ text: String, reason: String) {
    let error = #expect(throws: Unreadable.self) { try Duration(systemd: text) }
    #expect(error?.message == "cannot read \"\(text)\" as a duration: \(reason)")
    #expect(error?.remedy == "write for example \"15min\" or \"1h 30min\"")
  }

  @Test(
    "are written with the largest units first",
    arguments: [
      (0, "0"), (1, "1us"), (1500, "1ms 500us"), (90_000_000, "1min 30s"), (5_400_000_000, "1h 30min"),
      (86_400_000_000, "1d"), (900_000_000, "15min"), (31_557_600_000_000, "1y"), (2_629_800_000_000, "1month"),
      (31 * 86_400_000_000, "31d"), (365 * 86_400_000_000, "365d"), (14 * 86_400_000_000, "2w"),
      (8 * 86_400_000_000 + 3_600_000_000, "8d 1h"),
      (-1_000_000, "-1s"),
    ] as [(Int64, String)]
  )
  func written(microseconds: Int64, text: String) {
    #expect(Duration.microseconds(microseconds).inSystemdForm == text)
  }

  @Test("are read back from their text")
  func roundTrip() throws {
    // Every length of number comes up: the state of a linear congruential generator, cut to 0...48 bits.
    var state: UInt64 = 20_240_229
    for round in 0..<20_000 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let microseconds = Int64((state >> 16) >> UInt64(round % 49)) % (Duration.longest.inMicroseconds + 1)
      let duration = Duration.microseconds(microseconds)
      #expect(try Duration(systemd: duration.inSystemdForm) == duration)
      #expect(try Duration(systemd: duration.inSystemdForm.replacing(" ", with: "")) == duration)
    }
  }
}

@Suite("Intervals") struct IntervalsTests {
  @Test(
    "are read and written",
    arguments: [
      ("never", .never, "never"), ("minimum", .minimum, "minimum"), ("24h", .every(.hours(24)), "1d"),
      ("90", .every(.seconds(90)), "1min 30s"),
    ] as [(String, Interval, String)]
  )
  func read(_ text: String, interval: Interval, written: String) throws {
    #expect(try Interval(text) == interval)
    #expect(interval.text == written)
    #expect(try Interval(interval.text) == interval)
  }

  @Test("below the floor are refused with the floor and a remedy")
  func floor() throws {
    let error = #expect(throws: Unreadable.self) { try Interval("10min", floor: .minutes(15)) }
    #expect(
      error?.description
        == "cannot refresh every 10min: the floor is 15min; write \"minimum\" for as often as the system allows")
    #expect(try Interval("15min", floor: .minutes(15)) == .every(.minutes(15)))
    #expect(try Interval("minimum", floor: .minutes(15)) == .minimum)
  }

  @Test("that are no duration are refused with all valid forms")
  func refused() {
    let error = #expect(throws: Unreadable.self) { try Interval("Never") }
    #expect(error?.remedy == "write for example \"15min\" or \"1h 30min\", or \"minimum\", or \"never\"")
  }
}
