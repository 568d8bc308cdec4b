import Glibc

/// Writes log entries to systemd's journal, or as text to standard error.
///
/// If systemd connected standard error to the journal, entries go there with all fields. A
/// terminal, a file or a pipe gets a line of text.
public struct Journal: Sendable {
  enum Destination: Sendable {
    case journal(JournalSocket)
    case text(TextOutput, style: TextStyle)
  }

  let identifier: String
  let destination: Destination

  /// Makes a journal that writes as `identifier` to the current standard error.
  public init(identifier: String) {
    self.init(
      identifier: identifier,
      destination: Self.isJournal(STDERR_FILENO)
        ? .journal(JournalSocket(identifier: identifier))
        : .text(TextOutput(descriptor: STDERR_FILENO), style: TextStyle(of: STDERR_FILENO)))
  }

  init(identifier: String, destination: Destination) {
    self.identifier = identifier
    self.destination = destination
  }

  /// Writes `entry`, with the source location of the caller.
  ///
  /// Throws nothing, because there is no other place to report an error, and does not wait for a reader that has stopped.
  public func write(_ entry: JournalEntry, file: StaticString = #fileID, line: UInt = #line) {
    switch destination {
    case .journal(let socket): socket.send(assignments(of: entry, file: file, line: line))
    case .text(let output, let style): output.write(style.line(of: entry))
    }
  }

  /// The fields of an entry in the form of the journal: `NAME=VALUE`.
  func assignments(of entry: JournalEntry, file: StaticString, line: UInt) -> [String] {
    var assignments = [
      "MESSAGE=\(entry.visibleMessage)", "PRIORITY=\(entry.priority.rawValue)", "SYSLOG_IDENTIFIER=\(identifier)",
      "CODE_FILE=\(file)", "CODE_LINE=\(line)",
    ]
    if let id = entry.messageID {
      let digits = String(id, radix: 16)
      assignments.append("MESSAGE_ID=" + String(repeating: "0", count: 32 - digits.count) + digits)
    }
    return assignments + entry.fields.map { "\($0.name)=\($0.value)" }
  }

  /// Whether `descriptor` is the stream that systemd made and named in `$JOURNAL_STREAM` (systemd.exec(5)).
  static func isJournal(_ descriptor: Int32) -> Bool {
    guard let stream = getenv("JOURNAL_STREAM") else { return false }
    var file = stat()
    guard fstat(descriptor, &file) == 0 else { return false }
    return String(cString: stream) == "\(file.st_dev):\(file.st_ino)"
  }
}

/// An entry for the journal.
public struct JournalEntry: Hashable, Sendable {
  /// The priority, as in syslog(3): a lower number is more urgent.
  public enum Priority: Int, Hashable, Sendable, CaseIterable {
    /// The daemon cannot work at all.
    case critical = 2
    /// An action failed.
    case error = 3
    /// A problem may follow.
    case warning = 4
    /// Normal, but significant.
    case notice = 5
    /// Normal.
    case info = 6
    /// For developers of the program.
    case debug = 7
  }

  /// An extra field of an entry, by which `journalctl NAME=VALUE` finds it.
  public struct Field: Hashable, Sendable {
    /// Capitals, digits and underscores, but no leading underscore.
    ///
    /// journald drops fields with other names (systemd.journal-fields(7)).
    public var name: String
    /// Any text, including line breaks.
    public var value: String

    /// Makes a field from its parts.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The message for people, which makes sense without the fields.
  public var message: String
  /// The priority.
  public var priority: Priority
  /// The id of this kind of entry in the message catalogue, if it has one; `journalctl -x` shows the explanation.
  public var messageID: UInt128?
  /// The contents of the message, for programs.
  public var fields: [Field]

  /// Makes an entry from its parts.
  public init(_ message: String, priority: Priority = .info, messageID: UInt128? = nil, fields: [Field] = []) {
    self.message = message
    self.priority = priority
    self.messageID = messageID
    self.fields = fields
  }
}
