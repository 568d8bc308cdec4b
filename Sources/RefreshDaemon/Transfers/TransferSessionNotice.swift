import RefreshEngine

/// The desktop notice about a session, for the end of its last transfer.
struct TransferSessionNotice: Hashable, Sendable {
  /// The app's text; nil if it gave none.
  var words: String?
  private var done = 0
  private var failed = 0

  init(words: String? = nil) { self.words = words }

  /// Counts an ended transfer of the session.
  mutating func note(_ result: TransferResult) {
    switch result {
    case .done: done += 1
    case .failed, .expired: failed += 1
    case .cancelled: break
    }
  }

  /// The app's text with the number of failures; nil without a text, or if the user has cancelled all transfers.
  var text: String? {
    guard let words, done + failed > 0 else { return nil }
    if failed == 0 { return words }
    return done + failed == 1 ? "\(words) (failed)" : "\(words) (\(failed) of \(done + failed) failed)"
  }
}
