/// The stored session with a broker, a line in the state directory.
///
/// A packet number identifies a message only within a session. A lost session starts again at 1, because it expired or
/// the broker lost its files. Brokers may also mark messages that arrived during a disconnect as repeated (DUP).
/// Therefore the id of a message contains the session: otherwise a new message could be mistaken for an old one with
/// the same number and content.
struct BrokerSession: Hashable, Sendable {
  /// The start of the session in hexadecimal, which distinguishes sessions.
  let id: String
  /// The subscription that the broker has confirmed; nil before.
  var filter: String?

  /// A new session.
  ///
  /// - Parameter microseconds: the start, on the wall clock.
  init(beganAt microseconds: Int64) {
    id = String(microseconds, radix: 16)
  }

  /// Reads a stored line; nil for an invalid one.
  init?(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard let id = words.first, !id.isEmpty, id.allSatisfy(\.isHexDigit) else { return nil }
    self.id = String(id)
    filter = words.count > 1 ? String(words[1]) : nil
  }

  /// The stored line.
  var line: String { filter.map { "\(id) \($0)" } ?? id }

  /// The requests that change the subscription of the session to `wanted`.
  ///
  /// An unchanged subscription is requested too, because a broker that lost power may have an older session.
  func steps(toward wanted: String) -> [Step] {
    let other = filter.flatMap { $0 == wanted ? nil : Step.unsubscribe($0) }
    return (other.map { [$0] } ?? []) + [.subscribe(wanted)]
  }

  /// A request to the broker.
  enum Step: Hashable, Sendable {
    case subscribe(String)
    case unsubscribe(String)
  }
}
