import FoundationEssentials
import Glibc
import Testing

@testable import refresh_push

/// Where streams go on, across restarts of the bridge.
@MainActor
struct MemoryTests {
  let scratch: Scratch
  private var folder: String { "\(scratch.path)/deep/state" }

  init() throws { scratch = try Scratch() }

  @Test func whatIsRememberedIsThereAfterARestart() throws {
    do {
      let memory = try Memory(in: folder)
      #expect(memory["home"] == nil)
      try memory.remember("a", of: "home")
      try memory.remember("b", of: "news")
      try memory.remember("c", of: "home")
    }
    do {
      let memory = try Memory(in: folder)
      #expect((memory["home"], memory["news"]) == ("c", "b"))
      try memory.remember(nil, of: "home")
      try memory.keep(["home", "other"])
    }
    let memory = try Memory(in: folder)
    #expect((memory["home"], memory["news"]) == (nil, nil))
  }

  @Test func twoBridgesDoNotWorkOnTheSame() throws {
    let first = try Memory(in: folder)
    let error = #expect(throws: PushError.self) { try Memory(in: folder) }
    #expect(error?.code == .temporary)
    withExtendedLifetime(first) {}
  }

  @Test func aDamagedFileIsForAPersonToLookAt() throws {
    _ = try Memory(in: folder)
    try "[1, 2".write(toFile: "\(folder)/sources.json", atomically: false, encoding: .utf8)
    let error = #expect(throws: PushError.self) { try Memory(in: folder) }
    #expect(error?.code == .damaged)
    #expect(error?.description.contains("remove it") == true)
  }

  @Test func whatCannotBeWrittenIsNotForgotten() throws {
    let memory = try Memory(in: folder)
    try memory.remember("a", of: "home")
    try memory.remember("b", of: "news")
    // In the way of the new file.
    try #require(mkdir("\(folder)/sources.json.new", 0o700) == 0)
    #expect(throws: PushError.self) { try memory.keep(["home"]) }
    #expect(memory["news"] == "b")
  }

  @Test func nobodyElseMayReadIt() throws {
    let memory = try Memory(in: folder)
    try memory.remember("a", of: "home")
    var status = stat()
    try #require(stat("\(folder)/sources.json", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o600)
  }
}
