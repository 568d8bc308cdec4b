/// How often a broker has given each number of a session to a message, as far as this process has seen.
///
/// A number is used again once its message is acknowledged. Without the count in the id, a new message that says the same
/// as the last one of its number would be lost where the daemon ends before it answers: it is then given again as one
/// that the daemon may have. What came before this process began is not counted, so that what was stored and not
/// acknowledged is known after a restart; the price is that a bridge which is killed before it could hand such a message
/// over takes it, marked as sent before, for the last one.
struct BrokerReceptions {
  private var session: String?
  private var counts: [UInt16: Int] = [:]

  /// Counts a message, and gives how many came under its number before it: one that is sent again is not another.
  mutating func count(_ message: BrokerMessage, of session: BrokerSession) -> Int {
    if self.session != session.id { (self.session, counts) = (session.id, [:]) }
    let last = counts[message.packet]
    let count = message.isRepeated ? last ?? 0 : last.map { $0 + 1 } ?? 0
    counts[message.packet] = count
    return count
  }
}
