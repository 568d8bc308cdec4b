import RefreshAPI

// The bridge's report of a source comes in part from a server, which may send anything: it is bounded before it is kept.

extension Wire.Source {
  /// The most sources that one connection may tell of: as many as `push.toml` may have, 64 of each kind.
  static let most = 64 * Wire.SourceKind.allCases.count
  /// The most bytes of the name of one, and of what is wrong with it.
  private static let longestName = 32
  private static let longestProblem = 512

  /// The same with every number within its bounds, and no more than the beginning of a text of any length.
  var bounded: Wire.Source {
    Wire.Source(
      name: OutputLines.beginning(of: name, most: Self.longestName), kind: kind, isConnected: isConnected,
      sinceMicroseconds: ReportBounds.number(sinceMicroseconds),
      problem: problem.map { OutputLines.beginning(of: $0, most: Self.longestProblem) },
      retryMicroseconds: retryMicroseconds.map(ReportBounds.number), received: max(0, received),
      refused: max(0, refused))
  }
}
