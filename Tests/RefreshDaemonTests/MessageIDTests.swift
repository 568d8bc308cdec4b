import Glibc
import RefreshDaemon
import Testing

@Suite struct MessageIDTests {
  /// The blocks of systemd/refreshd.catalog: id, headers by name, text.
  private func catalogue() throws -> [(id: UInt128?, headers: [Substring: Substring], text: String)] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let file = try #require(fopen("/\(root)/systemd/refreshd.catalog", "r"))
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 100_000)
    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
    var blocks: [(id: UInt128?, headers: [Substring: Substring], text: String)] = []
    var isInHeaders = false
    for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("-- ") {
        blocks.append((UInt128(line.dropFirst(3), radix: 16), [:], ""))
        isInHeaders = true
      } else if line.isEmpty {
        isInHeaders = false
      } else if let last = blocks.indices.last {
        let colon = line.firstIndex(of: ":")
        if isInHeaders, let colon {
          blocks[last].headers[line[..<colon]] = line[line.index(colon, offsetBy: 2)...]
        } else {
          blocks[last].text += line + " "
        }
      }
    }
    return blocks
  }

  @Test func theCatalogueExplainsEveryIdInTheOrderOfTheList() throws {
    let explained = try catalogue().map(\.id)
    #expect(explained == MessageID.allCases.map(\.rawValue))
  }

  @Test func everyExplanationHasASubjectAPlaceToReadOnAndWhatToDo() throws {
    for block in try catalogue() {
      #expect(block.headers.keys.sorted() == ["Defined-By", "Documentation", "Subject"])
      #expect(block.headers["Defined-By"] == "refreshd")
      #expect(block.text.count > 60, "\(block.headers["Subject"] ?? "no subject") says too little")
    }
  }

  @Test func fieldsThatAreFilledInAreFieldsThatTheDaemonWrites() throws {
    let written: Set<Substring> = [
      "REFRESH_APP", "REFRESH_ID", "REFRESH_TRIGGER", "REFRESH_OUTCOME", "REFRESH_SESSION",
    ]
    for block in try catalogue() {
      let text = (block.headers["Subject"] ?? "") + " " + block.text
      let names = text.split(separator: "@", omittingEmptySubsequences: false).enumerated()
        .filter { $0.offset % 2 == 1 }.map(\.element)
      #expect(written.isSuperset(of: names))
    }
  }
}
