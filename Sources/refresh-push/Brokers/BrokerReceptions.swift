/// The ids that a broker has used for several messages in the lifetime of this process.
///
/// A broker reuses a packet number after the acknowledgement. If the new message also has the same content, both
/// messages have the same id. This type counts them and makes the ids distinct. Without the count, the new message
/// would be lost if the daemon ended before its answer: the repeated call would look like the old message.
///
/// Messages from before the start of the process are not counted, so that a stored but unacknowledged message is
/// recognized after a restart. In return, a bridge that is killed before the delivery of a reused id mistakes the
/// repeated message for the old one.
struct BrokerReceptions {
  /// The least number of known ids, far above the number of unacknowledged messages.
  static let fewestKnown = 512

  private var counts: [String: Int] = [:]
  /// The counts from before `counts` was last full; they are dropped when it is full again.
  private var older: [String: Int] = [:]

  /// The distinct id of a message: that of the last message with this id if the broker repeats it, else a new one.
  mutating func id(_ id: String, isRepeated: Bool) -> String {
    let last = counts[id] ?? older[id]
    let count = isRepeated ? last ?? 0 : last.map { $0 + 1 } ?? 0
    if counts.count == Self.fewestKnown { (older, counts) = (counts, [:]) }
    counts[id] = count
    return count > 0 ? "\(id)/\(count)" : id
  }
}
