import RefreshEngine
import Testing

@testable import RefreshConfig

/// The administrator's bounds on background transfers.
@Suite("Bounds of transfers") struct TransferSettingsTests {
  private func load(_ text: String) throws -> Configuration {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    return try scratch.load()
  }

  @Test("are those of the table, and the defaults where nothing is written")
  func table() throws {
    let configuration = try load(
      """
      max_concurrent = 3
      [transfers]
      max_concurrent = 2
      max_per_host = 1
      bandwidth = "1.5 MB"
      stall_timeout = "5s"
      give_up = "1d"
      """)
    var limits = TransferLimits()
    (limits.maxConcurrent, limits.maxPerHost, limits.giveUp) = (2, 1, .hours(24))
    #expect(configuration.limits.transfers == limits)
    #expect(configuration.limits.maxConcurrent == 3)
    #expect(configuration.transfers.bandwidth == 1_500_000)
    #expect(configuration.transfers.stallTimeout == .seconds(5))
    let some = try load("[transfers]\nbandwidth = \"none\"\nmax_per_host = 2")
    #expect(some.transfers == TransferSettings())
    #expect(some.limits.transfers.maxPerHost == 2)
    #expect(some.limits.transfers.maxConcurrent == TransferLimits().maxConcurrent)
  }

  @Test("out of bounds are refused with their lines")
  func mistakes() throws {
    let scratch = try Scratch()
    try scratch.write(
      "refreshd.toml",
      """
      [transfers]
      max_concurrent = 0
      max_per_host = "6"
      bandwidth = "fast"
      stall_timeout = "2h"
      give_up = "0s"
      patience = "1d"
      """)
    #expect(
      scratch.problems() == [
        "refreshd.toml:2: transfers.max_concurrent: cannot use 0: it is out of range; write 1 to 1000",
        "refreshd.toml:3: transfers.max_per_host: cannot use a string here; "
          + "write for example max_per_host = 6",
        "refreshd.toml:4: transfers.bandwidth: cannot read \"fast\" as an amount of data; "
          + "write for example \"100MB\" or \"1GiB\"",
        "refreshd.toml:5: transfers.stall_timeout: cannot use 2h: it is out of range; write 1s to 1h",
        "refreshd.toml:6: transfers.give_up: cannot use 0: it is out of range; write 1s to 10y",
        "refreshd.toml:7: transfers.patience: unknown key; "
          + "the keys here are bandwidth, give_up, max_concurrent, max_per_host, stall_timeout",
      ])
  }
}

/// `launcher` in `refreshd.toml`.
@Suite struct LauncherTests {
  @Test func theLauncherIsChosenByWhatThereIsUnlessItIsNamed() throws {
    let scratch = { (text: String) in
      let scratch = try Scratch()
      try scratch.write("refreshd.toml", text)
      return scratch
    }
    #expect(try scratch("").load().launcher == .auto)
    for choice in LauncherChoice.allCases {
      #expect(try scratch("launcher = \"\(choice.rawValue)\"").load().launcher == choice)
    }
    #expect(
      try scratch(#"launcher = "docker""#).problems() == [
        #"refreshd.toml:1: launcher: cannot use "docker" here; write "auto", "systemd" or "spawn""#
      ])
  }
}

/// The source of logins and logouts (`sessions`).
@Suite("Sessions") struct SessionsTests {
  private func scratch(_ text: String) throws -> Scratch {
    let scratch = try Scratch()
    try scratch.write("refreshd.toml", text)
    return scratch
  }

  @Test("have no effect unless refreshd.toml enables them")
  func words() throws {
    #expect(try scratch("").load().sessions == .none)
    #expect(try scratch(#"sessions = "none""#).load().sessions == .none)
    #expect(try scratch(#"sessions = "logind""#).load().sessions == .logind)
    #expect(
      try scratch(#"sessions = "elogind""#).problems() == [
        #"refreshd.toml:1: sessions: cannot use "elogind" here; write "none" or "logind""#
      ])
  }
}
