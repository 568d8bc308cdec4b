/// The stored session with a broker, some lines in the state directory.
///
/// A packet number identifies a message only within a session, and only until its acknowledgement: then the broker may
/// use the number again, and a message with it is a new one even if the broker marks it as repeated (MQTT-4.3.2-5,
/// MQTT-4.3.2-2 of 3.1.1). So the id of a message contains the session and its epoch, which ends when acknowledgements
/// are about to be sent. Without them a new message could be mistaken for an old one with the same number and content.
struct BrokerSession: Hashable, Sendable {
  /// The start of the session in hexadecimal, which distinguishes sessions.
  let id: String
  /// The present boot, because a loss of power may bring back an older epoch.
  private let boot: String
  /// The number of acknowledgements in this boot.
  private var acknowledgements = 0
  /// The subscription that the broker has confirmed; empty before.
  var filters: [String] = []

  /// Makes a session that begins at `microseconds`, on the wall clock.
  init(beganAt microseconds: Int64, boot: String) {
    id = String(microseconds, radix: 16)
    self.boot = boot
  }

  /// Reads a stored session; nil for an invalid one.
  init?(_ text: String, boot: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, !words[0].isEmpty, words[0].allSatisfy(\.isHexDigit), let count = Int(words[2]), count >= 0
    else { return nil }
    (id, self.boot) = (String(words[0]), boot)
    acknowledgements = words[1] == boot ? count : 0
    filters = lines.dropFirst().map(String.init)
  }

  /// The stored text.
  var text: String { (["\(id) \(boot) \(acknowledgements)"] + filters).joined(separator: "\n") }

  /// The part of the session in which a packet number identifies a message.
  var epoch: String { "\(boot)-\(acknowledgements)" }

  /// Ends the epoch: the messages are about to be acknowledged.
  mutating func acknowledge(_ messages: [BrokerMessage]) {
    if messages.contains(where: { $0.packet > 0 }) { acknowledgements += 1 }
  }

  /// The requests that change the subscription of the session to `wanted`.
  ///
  /// An unchanged subscription is requested too, because a broker that lost power may have an older session.
  func requests(toward wanted: [String]) -> [MQTTRequest] {
    let others = filters.filter { !wanted.contains($0) }
    return (others.isEmpty ? [] : [.unsubscribe(others)]) + [.subscribe(wanted)]
  }
}

/// A message from a broker.
struct BrokerMessage: Hashable, Sendable {
  var topic: String
  /// The payload; empty if it is too large.
  var payload: [UInt8]
  /// The packet number of the acknowledgement; 0 at quality of service 0.
  var packet: UInt16
  /// Whether the broker marks the message as repeated: the DUP flag.
  var isRepeated: Bool
  /// Whether the broker sends the retained message of the topic, not a new one.
  var isRetained: Bool
  /// The urgency from the sender (MQTT 5, the user property `urgency`).
  var urgency: String?
  /// The size of a payload above the limit, which is not copied; nil for any other.
  var excessiveSize: Int?
  /// Whether the topic is longer than `max_packet`, so that nothing but the packet number is known of the message.
  var hasLongTopic = false
}

/// The ids by which the daemon recognizes repeated messages of a broker.
enum BrokerMessageID {
  /// The id of a message; nil for one without a packet number, which arrives at most once (quality of service 0).
  ///
  /// A packet number identifies a message until its acknowledgement, so the id contains the session's epoch. A retained
  /// message has a new number at each subscription, so its id depends on the session and the content. The first arrival
  /// of such a message is not marked as retained, so another subscription in the session repeats it once.
  static func id(of message: BrokerMessage, source: String, session: BrokerSession) -> String? {
    guard let digest = Digest.digits(32, of: Array(message.topic.utf8) + [0] + message.payload) else { return nil }
    let prefix = "mqtt/\(source)/\(session.id)"
    if message.isRetained { return "\(prefix)/retained/\(digest)" }
    return message.packet > 0 ? "\(prefix)/\(session.epoch)/\(message.packet)/\(digest)" : nil
  }
}
