import CSystemd
import Glibc

/// Reads the output of one run of a unit as it arrives: sd-journal(3) on the event loop.
///
/// A process sees only the entries that its user may read (journalctl(1)). Thread-confined, as its loop is.
public final class JournalReader {
  /// The most entries that one turn of the loop reads, so that a unit that prints endlessly does not block the loop.
  private static let entriesPerTurn = 256

  private let journal: OpaquePointer
  private let invocation: String
  private var source: IOSource?
  private var nextTurn: TimerSource?
  private let onLine: (String) -> Void
  private let onEnd: () -> Void
  /// The time of the newest line of the run, in microseconds of the wall clock; 0 before the first.
  public private(set) var newest: UInt64 = 0

  /// The ids of a service manager's messages about the end of a run: `SD_MESSAGE_UNIT_SUCCESS`,
  /// `SD_MESSAGE_UNIT_FAILURE_RESULT` (sd-messages(3)).
  private static let ends: Set<String> = ["7ad2d189f7e94e70a38c781354912448", "d9b373ed55a64feb8242e02dbe79a49c"]
  private static let runOfProcess = "_SYSTEMD_INVOCATION_ID"
  /// The fields by which managers name a run in their own messages.
  private static let fieldsOfManagers = ["INVOCATION_ID", "USER_INVOCATION_ID"]

  /// Follows the entries of a run from its beginning.
  ///
  /// journald asks the kernel for the run of a process when it reads the line. If the process has ended by then, the entry
  /// names the unit only, and only for units of the machine. Such an entry counts if it is not older than the run.
  ///
  /// - Parameters:
  ///   - invocation: the id of the run, 32 hexadecimal digits (systemd.exec(5), `INVOCATION_ID`).
  ///   - unit: the unit of the machine; nil for one of a user's manager.
  ///   - start: the beginning of the run, in microseconds of the wall clock; 0 if it is not known.
  ///   - loop: the loop on which the reader waits for entries.
  ///   - onLine: called with each line, for earlier lines perhaps before this returns.
  ///   - onEnd: called when the manager's message about the end of the run has arrived.
  /// - Throws: an error when the journal cannot be opened or searched, or the loop cannot watch it.
  public init(
    invocation: String, unit: String?, since start: UInt64, on loop: EventLoop,
    onLine: @escaping (String) -> Void, onEnd: @escaping () -> Void
  ) throws(SystemdError) {
    var opened: OpaquePointer?
    try check(sd_journal_open(&opened, Int32(SD_JOURNAL_LOCAL_ONLY)), cannot: "open the journal")
    guard let opened else { throw SystemdError(cannot: "open the journal", code: ENOMEM) }
    journal = opened
    (self.invocation, self.onLine, self.onEnd) = (invocation, onLine, onEnd)
    var matches = ([Self.runOfProcess] + Self.fieldsOfManagers).map { "\($0)=\(invocation)" }
    if let unit, start > 0 { matches.append("_SYSTEMD_UNIT=\(unit)") }
    for match in matches {
      try check(sd_journal_add_match(journal, match, match.utf8.count), cannot: "search the journal")
      try check(sd_journal_add_disjunction(journal), cannot: "search the journal")
    }
    try check(sd_journal_seek_realtime_usec(journal, start), cannot: "search the journal")
    let descriptor = try check(sd_journal_get_fd(journal), cannot: "follow the journal")
    source = try loop.watch(descriptor, for: .readable) { [unowned self] _ in
      // The result says only how the files have changed.
      _ = sd_journal_process(journal)
      read()
    }
    nextTurn = try loop.timer { [unowned self] in read() }
    read()
  }

  deinit {
    source?.cancel()
    nextTurn?.cancel()
    sd_journal_close(journal)
  }

  /// Whether the user may read any journal at all.
  public var hasFiles: Bool {
    sd_journal_has_persistent_files(journal) > 0 || sd_journal_has_runtime_files(journal) > 0
  }

  /// Reads the remaining entries, for at most `microseconds`.
  public func readRest(within microseconds: Int64) {
    let end = EventLoop.bootMicroseconds() + microseconds
    while readTurn(), EventLoop.bootMicroseconds() < end {}
  }

  private func read() {
    // The journal's descriptor reports only new entries, not the remaining ones.
    if readTurn() { nextTurn?.arm(at: 0, accuracy: 1) }
  }

  /// Reads the entries of one turn; returns whether more may be left.
  private func readTurn() -> Bool {
    for _ in 0..<Self.entriesPerTurn {
      guard sd_journal_next(journal) > 0 else { return false }
      if Self.fieldsOfManagers.contains(where: { text(of: $0) != nil }) {
        if let id = text(of: "MESSAGE_ID"), Self.ends.contains(id) { onEnd() }
      } else if isOfRun, let line = text(of: "MESSAGE") {
        var time: UInt64 = 0
        if sd_journal_get_realtime_usec(journal, &time) >= 0 { newest = max(newest, time) }
        onLine(line)
      }
    }
    return true
  }

  /// Whether the process of the current entry belonged to the run, or journald does not know its run.
  private var isOfRun: Bool { text(of: Self.runOfProcess).map { $0 == invocation } ?? true }

  /// The text of a field of the current entry; nil if the entry has no such field.
  private func text(of field: String) -> String? {
    var data: UnsafeRawPointer?
    var length = 0
    let start = field.utf8.count + 1
    guard sd_journal_get_data(journal, field, &data, &length) >= 0, let data, length >= start else { return nil }
    return String(decoding: UnsafeRawBufferPointer(start: data, count: length).dropFirst(start), as: UTF8.self)
  }
}
