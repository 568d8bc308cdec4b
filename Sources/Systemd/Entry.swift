/// One thing to tell the journal.
public struct Entry: Hashable, Sendable {
  /// How much it matters, as syslog(3) counts: the lower, the more.
  public enum Priority: Int, Hashable, Sendable, CaseIterable {
    /// The daemon cannot do its work at all.
    case critical = 2
    /// Something was not done that should have been.
    case error = 3
    /// It may come to an error.
    case warning = 4
    /// Normal, and worth a look.
    case notice = 5
    /// Normal.
    case info = 6
    /// Of use to who works on the program.
    case debug = 7
  }

  /// A field beside the message, by which entries can be found: `journalctl NAME=VALUE`.
  public struct Field: Hashable, Sendable {
    /// Capitals, digits and underscores, not first an underscore: journald drops an entry's other fields
    /// (systemd.journal-fields(7)).
    public var name: String
    /// Any text, line breaks included.
    public var value: String

    /// Makes a field of its parts.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// What happened, for a person; understood without the fields.
  public var message: String
  /// How much it matters.
  public var priority: Priority
  /// The id of this kind of entry in the message catalogue, if it is there: `journalctl -x` explains it.
  public var messageID: UInt128?
  /// What the message says, for programs.
  public var fields: [Field]

  /// Makes an entry of its parts.
  public init(_ message: String, priority: Priority = .info, messageID: UInt128? = nil, fields: [Field] = []) {
    self.message = message
    self.priority = priority
    self.messageID = messageID
    self.fields = fields
  }
}
