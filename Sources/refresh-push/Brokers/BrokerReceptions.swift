/// Which ids a broker has used for several messages, as far as this process has seen.
///
/// A number is used again once its message is acknowledged, and the new message may say the same as the last one: both
/// have one id. Counted here, they have two; without that, the new message would be lost where the daemon ends before it
/// answers, because it is then given again as one that the daemon may have. What came before this process began is not
/// counted, so that what was stored and not acknowledged is known after a restart; the price is that a bridge which is
/// killed before it could hand such a message over takes it, marked as sent before, for the last one.
struct BrokerReceptions {
  /// So many ids are known at least, many more than can be unacknowledged at once.
  static let fewestKnown = 512

  private var counts: [String: Int] = [:]
  /// Those that were known before `counts` was full, which are forgotten when it is full again.
  private var older: [String: Int] = [:]

  /// The id of a message of its own: that of the last one with this id if it is sent again, or else another one.
  mutating func id(_ id: String, isRepeated: Bool) -> String {
    let last = counts[id] ?? older[id]
    let count = isRepeated ? last ?? 0 : last.map { $0 + 1 } ?? 0
    if counts.count == Self.fewestKnown { (older, counts) = (counts, [:]) }
    counts[id] = count
    return count > 0 ? "\(id)/\(count)" : id
  }
}
