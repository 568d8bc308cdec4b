import FoundationEssentials
import Glibc
import RefreshAPI
import Testing

@testable import refresh_push

/// Where streams go on, across restarts of the bridge.
@MainActor
struct BridgeStateTests {
  let scratch: Scratch
  private var folder: String { "\(scratch.path)/deep/state" }

  init() throws { scratch = try Scratch() }

  @Test func whatIsRememberedIsThereAfterARestart() throws {
    do {
      let state = try BridgeState(in: folder)
      #expect(state["home"] == nil)
      try state.remember("a", of: "home")
      try state.remember("b", of: "news")
      try state.remember("c", of: "home")
    }
    do {
      let state = try BridgeState(in: folder)
      #expect((state["home"], state["news"]) == ("c", "b"))
      try state.remember(nil, of: "home")
      try state.keep(["home", "other"])
    }
    let state = try BridgeState(in: folder)
    #expect((state["home"], state["news"]) == (nil, nil))
  }

  @Test func twoBridgesDoNotWorkOnTheSame() throws {
    let first = try BridgeState(in: folder)
    let error = #expect(throws: ServiceError.self) { try BridgeState(in: folder) }
    #expect(error?.code == .temporary)
    withExtendedLifetime(first) {}
  }

  @Test func aDamagedFileIsForAPersonToLookAt() throws {
    _ = try BridgeState(in: folder)
    try "[1, 2".write(toFile: "\(folder)/sources.json", atomically: false, encoding: .utf8)
    let error = #expect(throws: ServiceError.self) { try BridgeState(in: folder) }
    #expect(error?.code == .damaged)
    #expect(error?.description.contains("remove it") == true)
  }

  @Test func whatCannotBeWrittenIsNotForgotten() throws {
    let state = try BridgeState(in: folder)
    try state.remember("a", of: "home")
    try state.remember("b", of: "news")
    // In the way of the new file.
    try #require(mkdir("\(folder)/sources.json.new", 0o700) == 0)
    #expect(throws: ServiceError.self) { try state.keep(["home"]) }
    #expect(state["news"] == "b")
  }

  @Test func nobodyElseMayReadIt() throws {
    let state = try BridgeState(in: folder)
    try state.remember("a", of: "home")
    var status = stat()
    try #require(stat("\(folder)/sources.json", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }
}
