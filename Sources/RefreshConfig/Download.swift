import RefreshEngine

/// What a task of the built-in kind `transfer` has downloaded in the background.
///
/// A class, because every app holds commands and few of them download.
public final class Download: Hashable, Sendable {
  /// Where it comes from and goes to.
  public let file: RemoteFile
  /// What is said of it and asked for beside that.
  public let wishes: Wishes

  /// What may be left out; nil is what a transfer has that says nothing.
  public struct Wishes: Hashable, Sendable {
    /// The session that it belongs to.
    public var session: String?
    /// What it is, for people.
    public var description: String?
    /// What the SHA-256 of the whole file is to be, 64 hexadecimal digits.
    public var sha256: String?
    /// What it asks of the network.
    public var network: NetworkConstraint?
    /// Which go first, from -100 to 100: those with the higher one.
    public var priority: Int32?
    /// The most bytes a second.
    public var maxRate: Int64?
    /// What the owner's desktop is told when the session has ended.
    public var notify: String?
  }

  init(_ file: RemoteFile, _ wishes: Wishes) {
    (self.file, self.wishes) = (file, wishes)
  }

  /// Whether all of the two is equal.
  public static func == (left: Download, right: Download) -> Bool {
    left === right || (left.file, left.wishes) == (right.file, right.wishes)
  }

  /// Hashes the file.
  public func hash(into hasher: inout Hasher) { hasher.combine(file) }
}

/// The table `transfer` of a task, checked.
struct DownloadSection {
  let file: RemoteFileSection
  private var wishes = Download.Wishes()

  /// Takes the keys out of the table.
  init(from table: inout Section) {
    file = RemoteFileSection(from: &table, of: "transfer")
    wishes.session = table.takeText("session", example: "nightly", Self.line)
    wishes.description = table.takeText("description", example: "The map of the city", Self.line)
    wishes.notify = table.takeText("notify", example: "The map is there", Self.line)
    wishes.sha256 = table.takeText("sha256", example: String(repeating: "0", count: 64)) { (text) throws(Unreadable) in
      guard text.utf8.count == 64, text.allSatisfy({ $0.isASCII && $0.isHexDigit }) else {
        throw Unreadable(
          message: "cannot take \(quoted(text)) as a SHA-256", remedy: "write 64 hexadecimal digits, as sha256sum does")
      }
      return text.lowercased()
    }
    wishes.network = table.takeWord("network", example: .any)
    wishes.priority = table.takeInteger("priority", within: -100...100, example: 10)
    wishes.maxRate = table.takeText("max_rate", example: "1MB") { (text) throws(Unreadable) in
      try ByteSizes.bytes(text)
    }
  }

  /// What is downloaded for an owner; nil where a mistake was found.
  func download(for owner: Owner, _ sharing: inout Sharing) -> Download? {
    file.file(for: owner, &sharing).map { Download($0, wishes) }
  }

  private static func line(_ text: String) throws(Unreadable) -> String {
    guard (1...255).contains(text.utf8.count),
      text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
    else {
      throw Unreadable(
        message: "cannot take a text that is empty, too long or has control characters",
        remedy: "write 1 to 255 bytes in one line")
    }
    return text
  }
}
