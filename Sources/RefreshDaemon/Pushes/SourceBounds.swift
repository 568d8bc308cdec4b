import RefreshAPI

// Bounds the bridge's report of a source before it is kept, because parts of it come from a server.

extension Wire.Source {
  /// The most sources of one connection: as many as `push.toml` may have, 64 of each kind.
  static let most = 64 * Wire.SourceKind.allCases.count
  /// The most bytes of a source's name, and of its problem.
  private static let longestName = 32
  private static let longestProblem = 512

  /// The source with every number within its bounds, and with the beginning of each text.
  var bounded: Wire.Source {
    Wire.Source(
      name: OutputLines.beginning(of: name, most: Self.longestName), kind: kind, isConnected: isConnected,
      sinceMicroseconds: ReportBounds.number(sinceMicroseconds),
      problem: problem.map { OutputLines.beginning(of: $0, most: Self.longestProblem) },
      retryMicroseconds: retryMicroseconds.map(ReportBounds.number), received: max(0, received),
      refused: max(0, refused))
  }
}
