/// What a task of the built-in kind `http` fetches (FEATURES C8).
///
/// A class, because every app holds commands and few of them fetch.
public final class Fetch: Hashable, Sendable {
  /// The most bytes of a body where the file does not say.
  static let standardMostBytes: Int64 = 100_000_000

  /// Where it comes from and goes to: the file is replaced when there is something new.
  public let file: RemoteFile
  /// The most bytes of a body, decoded; one that is longer is a failure.
  public let mostBytes: Int64

  init(_ file: RemoteFile, mostBytes: Int64) {
    (self.file, self.mostBytes) = (file, mostBytes)
  }

  /// Whether all of the two is equal.
  public static func == (left: Fetch, right: Fetch) -> Bool {
    left === right || (left.file, left.mostBytes) == (right.file, right.mostBytes)
  }

  /// Hashes the file.
  public func hash(into hasher: inout Hasher) { hasher.combine(file) }
}

/// The table `http` of a task, checked.
struct FetchSection {
  let file: RemoteFileSection
  private let mostBytes: Int64

  /// Takes the keys out of the table.
  init(from table: inout Section) {
    file = RemoteFileSection(from: &table, of: "http")
    mostBytes =
      table.takeText("max_size", example: "100MB") { (text) throws(Unreadable) in try ByteSizes.bytes(text) }
      ?? Fetch.standardMostBytes
  }

  /// What is fetched for an owner; nil where a mistake was found.
  func fetch(for owner: Owner, _ sharing: inout Sharing) -> Fetch? {
    file.file(for: owner, &sharing).map { Fetch($0, mostBytes: mostBytes) }
  }
}
