import RefreshEngine

/// Intervals as text, in files and on the command line: a duration, `never` or `minimum`.
extension Interval {
  /// Reads a duration (see ``Swift/Duration/init(systemd:)``), `never` or `minimum`.
  public init(_ text: String) throws(Unreadable) {
    if let interval = Interval(word: text) {
      self = interval
      return
    }
    do {
      self = .every(try Duration(systemd: text))
    } catch {
      throw Unreadable(error.message, remedy: error.remedy + #", or "minimum", or "never""#)
    }
  }

  /// Reads an interval that must not be shorter than `floor`, the floor of its phase in ``RefreshEngine/Limits``.
  public init(_ text: String, floor: Duration) throws(Unreadable) {
    try self.init(text)
    if case .every(let duration) = self, duration < floor {
      throw Unreadable(
        "cannot refresh every \(duration.inSystemdForm): the floor is \(floor.inSystemdForm)",
        remedy: #"write "minimum" for as often as the system allows"#)
    }
  }

  /// The interval in the form that ``init(_:)`` reads.
  public var text: String { text(\.inSystemdForm) }
}
