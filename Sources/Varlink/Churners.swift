import Glibc

/// Finds the users who connect more often than a server can serve.
///
/// Belongs to the server's thread. Keeps a number for each user who has connected in this second.
struct Churners {
  private var arrivals: [uid_t: Int] = [:]
  private var second: UInt64 = 0

  /// The most connections in a second of a user who is no churner.
  ///
  /// Far above what people and scripts do. Oneway calls that come at once, each on a connection of its own, are fewer.
  private static let most = 512

  /// Counts a newcomer; returns whether its user connects too often.
  ///
  /// A user who churned in one second begins the next with half of that count, so that a flood does not begin each second
  /// with as many connections that are served.
  mutating func count(_ uid: uid_t, at nanoseconds: UInt64) -> Bool {
    let now = nanoseconds / 1_000_000_000
    if now != second {
      arrivals =
        now == second + 1 ? arrivals.filter { $0.value > Self.most }.mapValues { min($0 / 2, 4 * Self.most) } : [:]
      second = now
    }
    arrivals[uid, default: 0] += 1
    return arrivals[uid, default: 0] > Self.most
  }
}
