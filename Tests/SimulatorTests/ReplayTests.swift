import Glibc
import Simulator
import Testing

/// The seed decides everything: no clock, no hash order, no other source of chance has a say.
@Suite struct ReplayTests {
  @Test(arguments: [UInt64(7), 30]) func `One seed leaves one trace, in whatever process`(seed: UInt64) throws {
    let first = try simulate(seed)
    #expect(first.hasPrefix("seed \(seed) days 5 trace "))
    #expect(try simulate(seed) == first)
    var world = World(seed: seed, checks: Invariants.all())
    world.run(for: .hours(24 * 5))
    #expect(first.contains("trace \(String(world.trace.hash, radix: 16)) "))
  }

  @Test func `Another seed leaves another trace`() throws {
    #expect(try simulate(7).split(separator: " ")[5] != simulate(8).split(separator: " ")[5])
  }

  /// The output of the built `simulate`, a process of its own with its own hash seed.
  private func simulate(_ seed: UInt64) throws -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let length = readlink("/proc/self/exe", &path, path.count - 1)
    try #require(length > 0)
    let executable = String(decoding: path.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let directory = executable.prefix(upTo: try #require(executable.lastIndex(of: "/")))
    let pipe = try #require(popen("'\(directory)/simulate' --seed \(seed) --days 5", "r"))
    var output: [UInt8] = []
    while case let byte = fgetc(pipe), byte >= 0 { output.append(UInt8(byte)) }
    #expect(pclose(pipe) == 0)
    return String(decoding: output, as: UTF8.self)
  }
}
