/// The ids by which the daemon recognizes repeated messages of a broker.
enum BrokerMessageID {
  /// The id of a message; nil for one without a packet number, which arrives at most once (quality of service 0).
  ///
  /// A packet number identifies a message of a session until its acknowledgement. Then the broker may use the number
  /// again: ``Message/isNew`` marks the first arrival of a message, and ``BrokerReceptions`` tells two messages with the
  /// same number and content apart. A retained message has a new number in each session, so its id depends on the
  /// content alone. The first arrival of such a message is not marked as retained, so the next session repeats it once.
  static func id(of message: BrokerMessage, source: String, session: BrokerSession) -> String? {
    guard let digest = Digest.digits(32, of: Array(message.topic.utf8) + [0] + message.payload) else { return nil }
    if message.isRetained { return "mqtt/\(source)/retained/\(digest)" }
    return message.packet > 0 ? "mqtt/\(source)/\(session.id)/\(message.packet)/\(digest)" : nil
  }
}
