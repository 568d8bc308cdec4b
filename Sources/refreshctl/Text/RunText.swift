import RefreshAPI

extension Wire.RunEvent {
  /// A step of `run` in one line.
  func words(about app: String) -> String {
    let app = printable(app)
    switch kind {
    case .queued:
      let running = id.map { " (\(printable($0)))" } ?? ""
      return "\(app) is being refreshed\(running); another refresh follows when that has ended"
    case .held: return "\(app) is held: \((holds ?? []).namesAndRemedies)"
    case .started: return "\(app): refresh \(printable(id ?? "")) has started"
    case .output: return "\(printable(task ?? "")): \(printable(text ?? ""))"
    case .finished: return "\(app): " + (refresh?.outcome.words ?? "the refresh has ended")
    }
  }
}
