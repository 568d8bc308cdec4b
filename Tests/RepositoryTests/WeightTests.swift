import FoundationEssentials
import Glibc
import Testing

/// A daemon that always runs is judged by its weight: no program may link all of Foundation.
struct WeightTests {
  /// The directory of the programs that were built with the tests.
  private func programs() throws -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    try #require(count > 0)
    let test = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    // Either the test bundle itself runs, or the toolchain's runner, which names the bundle on its command line.
    let bundle = ([test] + CommandLine.arguments).first { $0.hasSuffix(".xctest") }
    return try #require(bundle).split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
  }

  private func bytes(of program: String) throws -> Data {
    try Data(contentsOf: URL(filePath: "\(try programs())/\(program)"))
  }

  @Test(arguments: ["refreshd", "refresh-push", "refresh-worker", "refresh-session"])
  func noServiceLinksTheEngineOfRegularExpressions(program: String) throws {
    // The name of the module, as it stands in each name that the program takes from it.
    #expect(
      try !bytes(of: program).has("17_StringProcessing"),
      """
      \(program): something calls contains(_:), split(separator:) or replacing(_:with:) with a text, which brings \
      1.3 MB; use the functions that take a character, or hasPrefix
      """)
  }

  @Test(arguments: [("refreshd", false), ("refreshctl", true), ("refresh-push", true), ("refresh-session", false)])
  func noProgramLinksAllOfFoundation(program: String, linksEssentials: Bool) throws {
    let bytes = try bytes(of: program)
    // The daemon is always there: it does without the 7 MB of FoundationEssentials as well.
    let libraries = [("libFoundationEssentials.so", linksEssentials), ("libFoundation.so", false), ("ICU.so", false)]
    for (library, isLinked) in libraries {
      #expect(
        bytes.has(library) == isLinked,
        "\(program) and \(library): something imports Foundation, which brings 45 MB of ICU")
    }
  }
}
