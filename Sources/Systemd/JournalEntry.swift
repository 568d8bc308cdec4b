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
