import RefreshAPI

/// A source of the session's windows.
protocol OpenWindows: AnyObject {
  /// The kind of source; `none` while it reports no windows.
  var kind: Wire.WindowSource { get }
  /// The open windows; empty while they are unknown.
  var open: [OpenWindow] { get }
  /// Whether the windows are known, or cannot be known.
  var isSettled: Bool { get }
  /// The remedy while the source cannot report windows; nil while it can, or if nothing would help.
  var remedy: String? { get }
}
