import Testing

@testable import refreshctl

@Suite struct ByteCountTests {
  @Test(arguments: [
    (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (1_234, "1.2 kB"), (52_000, "52 kB"), (999_499, "999 kB"),
    (3_400_000, "3.4 MB"), (12_345_678, "12 MB"), (1_500_000_000, "1.5 GB"), (2_000_000_000_000, "2000 GB"),
  ])
  func theUnitIsTheOneThatMatters(bytes: Int64, text: String) { #expect(ByteCount.text(bytes) == text) }
}
