import CCrypto

/// The ids of a broker's messages, by which the daemon knows them again.
enum BrokerMessageID {
  /// The id of a message, at most 120 bytes beside the source's name.
  ///
  /// The broker's number for it holds within a session until it is acknowledged, and is then used again: the daemon is
  /// told with ``Message/isNew`` when a number comes for the first time. A retained message comes under a new number
  /// with each new session, and is known by what it says. Quality of service 0 has no number: it comes once at most.
  static func id(of message: BrokerMessage, source: String, session: BrokerSession) -> String? {
    guard let digest = digest(of: message) else { return nil }
    if message.isRetained { return "mqtt/\(source)/retained/\(digest)" }
    return message.packet > 0 ? "mqtt/\(source)/\(session.id)/\(message.packet)/\(digest)" : nil
  }

  /// The first half of the SHA-256 of topic and payload, from which neither can be read; nil if there is no memory.
  private static func digest(of message: BrokerMessage) -> String? {
    let bytes = Array(message.topic.utf8) + [0] + message.payload
    var digest = [UInt8](repeating: 0, count: 32)
    guard EVP_Digest(bytes, bytes.count, &digest, nil, EVP_sha256(), nil) == 1 else { return nil }
    let digits = Array("0123456789abcdef")
    return String(digest.prefix(16).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
  }
}
