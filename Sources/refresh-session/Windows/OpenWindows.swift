import RefreshAPI

/// A way to see the windows of the session.
protocol OpenWindows: AnyObject {
  /// How it sees windows; `none` while it does not.
  var kind: Wire.WindowSource { get }
  /// The windows that are open; none while they are not known.
  var open: [OpenWindow] { get }
  /// Whether the windows are known, or cannot be.
  var isSettled: Bool { get }
  /// The remedy while it cannot see windows; nil while it can, or where nothing would help.
  var remedy: String? { get }
}
