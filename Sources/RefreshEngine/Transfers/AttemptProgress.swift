/// The progress of one attempt to move a file.
///
/// After progress the next attempt follows at once; without progress the back-off grows.
public struct AttemptProgress: Hashable, Sendable {
  /// The least number of bytes that counts as progress.
  public static let worthHaving: Int64 = 64 * 1024

  /// How many bytes of the file are moved so far.
  public var bytes: Int64
  /// The most bytes that were moved before this attempt.
  public private(set) var mostBefore: Int64

  /// Makes the progress of a transfer before its first attempt since the daemon started.
  public init(bytes: Int64) { (self.bytes, mostBefore) = (bytes, bytes) }

  /// Begins the next attempt.
  public mutating func begin() { mostBefore = max(mostBefore, bytes) }

  /// Whether the attempt has moved more of the file.
  ///
  /// Reaching the point of an earlier attempt again is no progress. Otherwise a server that makes each attempt start over,
  /// and breaks off at the same point, would be asked without end or pause.
  public var hasProgressed: Bool { bytes - mostBefore >= Self.worthHaving }
}
