import Synchronization
import Systemd

/// Bounds the journal entries about each app: a program may cause entries without end, by signals or pushes.
///
/// Without a bound one user could fill the journal, or use up the rate that journald allows the daemon, so that entries
/// about other users' apps would be missing. The output of tasks has its own bound (``OutputMeters``).
final class EntryAllowances: Sendable {
  private struct EntryCount {
    var allowance = OutputAllowance()
    var dropped = 0
  }

  private struct AppAllowances {
    var apps: [String: EntryCount] = [:]
    /// How many apps are remembered before idle apps are forgotten: twice as many as remained the last time.
    var bound = least
  }

  private static let least = 64

  private let table = Mutex(AppAllowances())

  /// Gives the entries to write for an entry, within the bound of its app.
  ///
  /// An entry beyond the bound is dropped. A note is written when the bound is reached, and before the first entry for
  /// which there is room again. `now` is the boot clock, in microseconds.
  func admitted(_ entry: JournalEntry, at now: Int64) -> [JournalEntry] {
    guard let app = entry.fields.first(where: { $0.name == "REFRESH_APP" })?.value,
      entry.messageID != MessageID.taskOutput.rawValue
    else { return [entry] }
    return table.withLock { table in
      if table.apps[app] == nil, table.apps.count >= table.bound {
        table.apps = table.apps.filter { $1.dropped > 0 || !$1.allowance.wasFull(at: now) }
        table.bound = max(Self.least, 2 * table.apps.count)
      }
      var known = table.apps[app, default: EntryCount()]
      defer { table.apps[app] = known }
      let wasSpent = known.allowance.isSpent
      guard known.allowance.admits(entry.message.utf8.count, at: now) else {
        known.dropped += 1
        return wasSpent
          ? []
          : [note("\(app): further entries about it are dropped: an app may have \(OutputAllowance.rule)", of: app)]
      }
      guard known.dropped > 0 else { return [entry] }
      defer { known.dropped = 0 }
      return [
        note(
          "\(app): \(known.dropped) entries about it were dropped: an app may have \(OutputAllowance.rule)", of: app),
        entry,
      ]
    }
  }

  private func note(_ text: String, of app: String) -> JournalEntry {
    JournalEntry(text, priority: .warning, fields: [JournalEntry.Field("REFRESH_APP", app)])
  }
}

extension OutputAllowance {
  /// Whether the app need not be remembered.
  fileprivate func wasFull(at now: Int64) -> Bool {
    var allowance = self
    return allowance.isFull(at: now)
  }
}
