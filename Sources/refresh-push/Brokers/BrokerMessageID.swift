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
