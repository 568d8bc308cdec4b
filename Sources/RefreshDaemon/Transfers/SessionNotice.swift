import RefreshEngine

/// What the owner's desktop is told when the last transfer of a session has ended.
struct SessionNotice: Hashable, Sendable {
  /// The words of the app; nil where it gave none.
  var words: String?
  private var done = 0
  private var failed = 0

  /// That of a session of which nothing has ended.
  init(words: String? = nil) { self.words = words }

  /// Takes note of how a transfer of the session has ended.
  mutating func note(_ result: TransferResult) {
    switch result {
    case .done: done += 1
    case .failed, .expired: failed += 1
    case .cancelled: break
    }
  }

  /// The words, and behind them how many have failed; nil where there are no words, or the user has cancelled all.
  var text: String? {
    guard let words, done + failed > 0 else { return nil }
    if failed == 0 { return words }
    return done + failed == 1 ? "\(words) (failed)" : "\(words) (\(failed) of \(done + failed) failed)"
  }
}
