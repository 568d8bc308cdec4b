import Glibc
import Simulator
import Testing

/// The diagram in the comment of `Refreshing` is what the simulator sees: no stage more, none less.
@Suite struct DiagramTests {
  @Test func `The stages of a refresh are those of the diagram`() throws {
    var drawn: Set<String> = []
    for line in try source("Sources/RefreshEngine/Refreshes/Refreshing.swift").split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 4, words[0] == "///", words[2] == "->" else { continue }
      let causes = words[4...].joined(separator: " ").split(separator: ",").compactMap { cause in
        cause.split(separator: " ").first.map(String.init)
      }
      let isByTime = ["warned", "running", "killed", "stuck"].contains(words[3])
      for cause in isByTime ? ["time"] : causes { drawn.insert("\(words[1]) -> \(words[3]): \(cause)") }
    }
    var seen: Set<String> = []
    for seed in UInt64(1)...300 where seen != drawn {
      var world = World(seed: seed, checks: [])
      world.run(for: .hours(24 * 3))
      seen.formUnion(world.book.transitions.map { "\($0.from) -> \($0.to): \($0.cause)" })
    }
    #expect(seen == drawn)
  }

  private func source(_ path: String) throws -> String {
    let tests = String(#filePath).split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(fopen("/\(tests)/\(path)", "r"), "cannot read \(path)")
    defer { fclose(file) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(file), byte >= 0 { bytes.append(UInt8(byte)) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
