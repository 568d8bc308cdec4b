import Testing

@Suite("Every mistake in a constraint is reported") struct ConstraintProblemTests {
  static let quiet = #"write two times from 00:00 to 23:59, as in "22:00-06:00", or "never""#
  static let staleness = "write a longer max_stale or a shorter background_interval"

  /// Keys of an app, which begin in line 2 of its file, and what is said about them.
  static let keys: [(text: String, problems: [String])] =
    [
      (
        #"network = "lan""#,
        [#"2: network: cannot use "lan" here; write "none", "any", "unmetered" or "wifi""#]
      ),
      (
        "network = true", [#"2: network: cannot use a boolean here; write for example network = "unmetered""#]
      ),
      (#"power = "AC""#, [#"2: power: cannot use "AC" here; write "any", "ac" or "not-low""#]),
      (#"ssids = "Home""#, [#"2: ssids: cannot use a string here; write for example ssids = ["Home"]"#]),
      (
        #"ssids = ["Home", 5]"#,
        [#"2: ssids: cannot use an integer in this array; put it in quotes, as in ssids = ["Home"]"#]
      ),
      (
        #"ssids = [""]"#, [#"2: ssids: cannot use "" as the name of a Wi-Fi network; write a name of 1 to 32 bytes"#]
      ),
      (
        "denied_ssids = [\"\(String(repeating: "ä", count: 16))\", \"\(String(repeating: "ä", count: 17))\"]",
        [
          "2: denied_ssids: cannot use \"\(String(repeating: "ä", count: 17))\" as the name of a Wi-Fi network; "
            + "write a name of 1 to 32 bytes"
        ]
      ),
      (#"idle = "yes""#, ["2: idle: cannot use a string here; write for example idle = true"]),
      ("calm = 1", ["2: calm: cannot use an integer here; write for example calm = true"]),
      (
        #"metered_when_stale = "yes""#,
        ["2: metered_when_stale: cannot use a string here; write for example metered_when_stale = true"]
      ),
      (
        #"mounted = "backup""#,
        [
          #"2: mounted: cannot use "backup" as a mount point; write the absolute path that /proc/self/mountinfo shows, "#
            + "without a final slash"
        ]
      ),
      (
        #"mounted = "/media/backup/""#,
        [
          #"2: mounted: cannot use "/media/backup/" as a mount point; write the absolute path that /proc/self/mountinfo shows, "#
            + "without a final slash"
        ]
      ),
      (
        #"present = "usb:1d6b""#,
        [
          #"2: present: cannot use "usb:1d6b" as a device; write "usb:VENDOR:PRODUCT" with the two numbers that lsusb "#
            + #"shows, as in "usb:1d6b:0002""#
        ]
      ),
      (
        #"reachable = "nas.local""#,
        [
          #"2: reachable: cannot use "nas.local" as a server; write "HOST:PORT" with a port from 1 to 65535, as in "#
            + #""nas.local:22" or "[fd00::1]:22""#
        ]
      ),
      (
        #"reachable = "fd00::1:22""#,
        [
          #"2: reachable: cannot use "fd00::1:22" as a server; write "HOST:PORT" with a port from 1 to 65535, as in "#
            + #""nas.local:22" or "[fd00::1]:22""#
        ]
      ),
      (
        #"when = ["scripts/vpn"]"#,
        [
          #"2: when: cannot find the program "scripts/vpn" by a relative path; write its absolute path, or only its name"#
        ]
      ),
      ("quiet = false", [#"2: quiet: cannot use a boolean here; write for example quiet = "22:00-06:00""#]),
      (
        #"quiet = "06:00-06:00""#,
        [#"2: quiet: cannot use "06:00-06:00" as quiet hours: they begin and end at the same time; \#(quiet)"#]
      ),
      (#"max_stale = "59s""#, ["2: max_stale: cannot use 59s: it is out of range; write 1min to 10y"]),
      (
        "max_stale = \"2h\"\nbackground_interval = \"3h\"",
        [#"2: max_stale: cannot use max_stale = "2h" with a refresh every 3h; \#(staleness)"#]
      ),
      (
        "background_interval = \"auto\"\nmax_stale = \"10min\"",
        [#"3: max_stale: cannot use max_stale = "10min" with a refresh every 15min; \#(staleness)"#]
      ),
      (
        "max_stale = \"2h\"\nbackground_floor = \"3h\"",
        [#"2: max_stale: cannot use max_stale = "2h" with a refresh every 3h; \#(staleness)"#]
      ),
      (
        "background_interval = 1\nmax_stale = \"2h\"",
        [#"2: background_interval: cannot use an integer here; write for example background_interval = "1h""#]
      ),
    ]
    + [
      "", "never ", "22:00", "22:00-", "24:00-06:00", "22:60-06:00", "9:00-17:00", "22:00 - 06:00", "22:00-06:00-07:00",
    ]
    .map { ("quiet = \"\($0)\"", ["2: quiet: cannot read \"\($0)\" as quiet hours; \(quiet)"]) }

  @Test("with its line and remedy", arguments: keys)
  func key(text: String, problems: [String]) throws {
    let scratch = try Scratch()
    try scratch.write("apps.d/x.toml", "id = \"org.example.todo\"\n\(text)\n[[task]]\nrun = [\"true\"]\n")
    #expect(scratch.problems() == problems.map { "apps.d/x.toml:\($0)" })
  }

  @Test("in refreshd.toml")
  func main() throws {
    let scratch = try Scratch()
    try scratch.write(
      "refreshd.toml",
      """
      max_concurrent = 0
      unknown_conditions = "unknown"
      power_saver = true
      settle = "11min"
      [defaults]
      max_stale = "2h"
      background_interval = "1d"
      """)
    #expect(
      scratch.problems() == [
        "refreshd.toml:1: max_concurrent: cannot use 0: it is out of range; write 1 to 1000",
        #"refreshd.toml:2: unknown_conditions: cannot use "unknown" here; write "met" or "unmet""#,
        #"refreshd.toml:3: power_saver: cannot use a boolean here; write for example power_saver = "dearer""#,
        "refreshd.toml:4: settle: cannot use 11min: it is out of range; write 0 to 10min",
        #"refreshd.toml:6: defaults.max_stale: cannot use max_stale = "2h" with a refresh every 1d; \#(Self.staleness)"#,
      ])
  }

  @Test("an interval longer than the max_stale of [defaults] is a mistake of the app's file")
  func defaultStaleness() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[defaults]\nmax_stale = \"3d\"")
    try scratch.write("apps.d/x.toml", "id = \"a.b\"\nbackground_interval = \"5d\"\n[[task]]\nrun = [\"true\"]")
    #expect(
      scratch.problems() == [
        #"apps.d/x.toml:2: background_interval: cannot use max_stale = "3d" with a refresh every 5d; \#(Self.staleness)"#
      ])
  }

  @Test("a max_stale that cannot be read is one mistake, whatever [defaults] have")
  func unreadableStaleness() throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", "[defaults]\nmax_stale = \"3d\"")
    try scratch.write(
      "apps.d/x.toml", "id = \"a.b\"\nbackground_interval = \"5d\"\nmax_stale = 7\n[[task]]\nrun = [\"true\"]")
    #expect(
      scratch.problems() == [
        #"apps.d/x.toml:3: max_stale: cannot use an integer here; write for example max_stale = "3d""#
      ])
  }

  @Test(
    "defaults that cannot be read cause no mistake in an app's file",
    arguments: ["[defaults]\nbackground_interval = 1", "[defaults]\nbackground_interval =", "defaults = 1"])
  func unreadableDefaults(text: String) throws {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    try scratch.write("apps.d/a.toml", "id = \"a.b\"\nmax_stale = \"2h\"\n[[task]]\nrun = [\"true\"]")
    #expect(scratch.problems().count == 1)
    #expect(scratch.problems()[0].hasPrefix("refreshd.toml:"))
  }
}
