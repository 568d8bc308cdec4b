/// Checks the free space of disks while transfers wait for it: every 10 s, folder by folder.
///
/// A value without a clock. The owner calls ``begin(at:)`` at ``wake``, looks at each folder that ``claim(_:)`` allows, and
/// reports the end of each look with ``end(_:)``. A folder on a dead mount may never answer: it is not looked at again
/// until it answers, and delays no other folder.
public struct RoomCheck: Sendable {
  /// The time between two checks.
  public static let interval = Duration.seconds(10)

  /// A folder to look at, and the bytes that each transfer needs there.
  public struct Look: Hashable, Sendable {
    /// The folder.
    public let folder: String
    /// The bytes that each transfer needs.
    public let needs: [TransferID: Int64]
  }

  private var waiting: [TransferID: (folder: String, needed: Int64)] = [:]
  private var unanswered: Set<String> = []
  /// When to check next, boot clock; nil while no transfer waits for room.
  public private(set) var wake: Instant?

  /// Makes a check for no transfer.
  public init() {}

  /// Adds a transfer that waits for room, or changes its need.
  ///
  /// `path` is the file of the transfer; the room counts on the disk of its folder.
  public mutating func add(_ id: TransferID, path: String, needed: Int64, at now: Instant) {
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    waiting[id] = (folder.isEmpty ? "/" : folder, needed)
    wake = wake ?? now + Self.interval
  }

  /// Removes a transfer that no longer waits for room.
  public mutating func remove(_ id: TransferID) {
    waiting[id] = nil
    if waiting.isEmpty { wake = nil }
  }

  /// Starts the due looks, in order of folder.
  public mutating func begin(at now: Instant) -> [Look] {
    guard let due = wake, due <= now else { return [] }
    wake = now + Self.interval
    var needs: [String: [TransferID: Int64]] = [:]
    for (id, need) in waiting where !unanswered.contains(need.folder) {
      needs[need.folder, default: [:]][id] = need.needed
    }
    return needs.map { Look(folder: $0.key, needs: $0.value) }.sorted { $0.folder < $1.folder }
  }

  /// Claims a folder for a look; false while an earlier look is unanswered.
  public mutating func claim(_ folder: String) -> Bool { unanswered.insert(folder).inserted }

  /// Ends the look at a folder.
  public mutating func end(_ folder: String) { unanswered.remove(folder) }

  /// Finds the transfers of a look that have room, with a hundredth of the disk to spare.
  ///
  /// - Parameters:
  ///   - needs: the bytes that each transfer needs.
  ///   - available: the bytes that the owner may still write.
  ///   - size: the bytes of the whole disk; 0 for a file system that reports none, where all have room.
  /// - Returns: the transfers with room, in order of id.
  public static func roomy(_ needs: [TransferID: Int64], available: Double, size: Double) -> [TransferID] {
    needs.filter { size == 0 || Double($0.value) < available - size / 100 }.keys.sorted()
  }
}
