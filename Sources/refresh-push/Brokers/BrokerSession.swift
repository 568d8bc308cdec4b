/// What the bridge remembers of its session with a broker, in one line of the state directory.
///
/// A broker numbers the packets of a session from 1, and a session that it lost (it expired, the broker was started
/// anew without its files) begins anew, so the packet's number tells two messages apart within a session only.
/// Brokers may mark what came while the bridge was away as sent before (DUP), though it was not: without the session in a
/// message's id, a new message that says the same as an old one of the same number would be taken for it.
struct BrokerSession: Hashable, Sendable {
  /// Tells this session from earlier ones: when it began, in hexadecimal.
  let id: String
  /// What it is subscribed to as far as the broker has said so; nil before.
  var filter: String?

  /// A session that begins now, microseconds of the wall clock.
  init(beganAt microseconds: Int64) {
    id = String(microseconds, radix: 16)
  }

  /// Reads the line; nil for anything else.
  init?(_ line: String) {
    let words = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard let id = words.first, !id.isEmpty, id.allSatisfy(\.isHexDigit) else { return nil }
    self.id = String(id)
    filter = words.count > 1 ? String(words[1]) : nil
  }

  /// The line of it.
  var line: String { filter.map { "\(id) \($0)" } ?? id }

  /// What to ask of a broker that has the session, so that it gives the messages of `wanted` and no others.
  ///
  /// It is asked even for what it has given before: a broker that lost power may be back with an older session.
  func steps(toward wanted: String) -> [Step] {
    let other = filter.flatMap { $0 == wanted ? nil : Step.unsubscribe($0) }
    return (other.map { [$0] } ?? []) + [.subscribe(wanted)]
  }

  /// A thing to ask of the broker.
  enum Step: Hashable, Sendable {
    case subscribe(String)
    case unsubscribe(String)
  }
}
