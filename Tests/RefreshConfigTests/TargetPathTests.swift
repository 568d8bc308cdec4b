import Testing

@testable import RefreshConfig

@Suite("The path of a file that a worker writes or reads") struct TargetPathTests {
  private func isTaken(_ path: String, _ suffix: String?) -> Bool {
    (try? TargetPath.check(path, suffix: suffix)) != nil
  }

  @Test(
    "leaves room for the suffix of a part, where there will be one",
    arguments: [(nil, 255), (TargetPath.transferSuffix, 250), (TargetPath.fetchSuffix, 241)] as [(String?, Int)])
  func room(_ suffix: String?, _ most: Int) {
    #expect(isTaken("/d/" + String(repeating: "x", count: most), suffix))
    #expect(!isTaken("/d/" + String(repeating: "x", count: most + 1), suffix))
  }

  @Test("is not that of one of refreshd's own files, if it is written")
  func ownFiles() {
    #expect(!isTaken("/d/feed.refreshd-part", TargetPath.fetchSuffix))
    #expect(!isTaken("/d/feed.refreshd-part", TargetPath.transferSuffix))
    #expect(isTaken("/d/feed.refreshd-part", nil))
  }
}
