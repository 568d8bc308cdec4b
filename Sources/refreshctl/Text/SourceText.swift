import RefreshAPI

extension Screen {
  /// The push bridge and its sources, a line each.
  func text(_ push: Wire.PushState) -> [String] {
    let since = "bridge since \(clock(push.sinceMicroseconds))"
    let network = push.mayConnect ? "" : "; it waits for a network that it may use"
    guard !push.sources.isEmpty else { return ["\(since), without a source; add one to push.toml"] }
    return [since + network] + push.sources.flatMap { lines($0, push) }
  }

  /// A sentence about the sources that failed to connect; nil if there are none.
  func sentence(_ push: Wire.PushState) -> String? {
    let gone = push.sources.filter { !$0.isConnected && $0.problem != nil }
    guard push.mayConnect, !gone.isEmpty else { return nil }
    let names = gone.map { printable($0.name) }.joined(separator: ", ")
    return "\(count(gone.count, "push source is", "push sources are")) not connected: \(names)."
  }

  /// The state of a source, wrapped to the column of the facts.
  private func lines(_ source: Wire.Source, _ push: Wire.PushState) -> [String] {
    let isTrouble = push.mayConnect && !source.isConnected && source.problem != nil
    return wrapped(words(source), within: max(20, readableWidth - 18)).map { paint($0, isTrouble ? .bad : .plain) }
  }

  private func words(_ source: Wire.Source) -> String {
    let name = "\(printable(source.name)) (\(source.kind.rawValue))"
    let refused = source.refused == 0 ? "" : ", \(source.refused) refused"
    let messages = "\(count(source.received, "message"))\(refused)"
    let since = clock(source.sinceMicroseconds)
    if source.isConnected { return "\(name): connected since \(since), \(messages)" }
    let problem = source.problem.map { ": \(printable($0))" } ?? ""
    let retry = source.retryMicroseconds.map { "; next attempt \(relativeAndClock($0))" } ?? ""
    return "\(name): not connected since \(since), \(messages)\(problem)\(retry)"
  }
}
