import RefreshAPI

extension Screen {
  /// The push bridge and its sources, a line each.
  func text(_ push: Wire.PushState) -> [String] {
    let since = "bridge since \(clock(push.sinceMicroseconds))"
    let network = push.mayConnect ? "" : "; it waits for a network that it may use"
    guard !push.sources.isEmpty else { return ["\(since), without a source; add one to push.toml"] }
    return [since + network] + push.sources.flatMap { lines($0, push) }
  }

  /// A sentence about the sources that cannot connect, or not bring all of their messages; nil if there are none.
  func sentence(_ push: Wire.PushState) -> String? {
    let troubled = push.sources.filter { $0.problem != nil }
    guard push.mayConnect, !troubled.isEmpty else { return nil }
    func sentence(_ sources: [Wire.Source], _ end: String) -> String? {
      let names = sources.map { printable($0.name) }.joined(separator: ", ")
      return sources.isEmpty ? nil : "\(count(sources.count, "push source is", "push sources are")) \(end): \(names)."
    }
    return [
      sentence(troubled.filter { !$0.isConnected }, "not connected"),
      sentence(troubled.filter(\.isConnected), "connected for some apps only"),
    ].compactMap(\.self).joined(separator: " ")
  }

  /// The state of a source, wrapped to the column of the facts.
  private func lines(_ source: Wire.Source, _ push: Wire.PushState) -> [String] {
    let isTrouble = push.mayConnect && source.problem != nil
    return wrapped(words(source), within: max(20, readableWidth - 18)).map { paint($0, isTrouble ? .bad : .plain) }
  }

  private func words(_ source: Wire.Source) -> String {
    let name = "\(printable(source.name)) (\(source.kind.rawValue))"
    let refused = source.refused == 0 ? "" : ", \(source.refused) refused"
    let messages = "\(count(source.received, "message"))\(refused)"
    let since = clock(source.sinceMicroseconds)
    let problem = source.problem.map { ": \(printable($0))" } ?? ""
    if source.isConnected { return "\(name): connected since \(since), \(messages)\(problem)" }
    let retry = source.retryMicroseconds.map { "; next attempt \(relativeAndClock($0))" } ?? ""
    return "\(name): not connected since \(since), \(messages)\(problem)\(retry)"
  }
}
