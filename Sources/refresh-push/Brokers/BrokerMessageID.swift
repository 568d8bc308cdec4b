/// The ids of a broker's messages, by which the daemon knows them again.
enum BrokerMessageID {
  /// The id of a message; nil for one that has none, because it comes once at most.
  ///
  /// The broker's number for a message holds within a session until it is acknowledged, and is then used again: the
  /// daemon is told with ``Message/isNew`` when a number comes for the first time, and ``BrokerReceptions`` tells two such
  /// messages apart. A retained message comes under a new number in each new session, and is known by what it says; when
  /// it is sent, it has no mark, so that the next session brings it once more. Quality of service 0 has no numbers.
  static func id(of message: BrokerMessage, source: String, session: BrokerSession) -> String? {
    guard let digest = Digest.digits(32, of: Array(message.topic.utf8) + [0] + message.payload) else { return nil }
    if message.isRetained { return "mqtt/\(source)/retained/\(digest)" }
    return message.packet > 0 ? "mqtt/\(source)/\(session.id)/\(message.packet)/\(digest)" : nil
  }
}
