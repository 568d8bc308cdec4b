/// The messages of a stream that wait for the daemon: flow control, and the position to continue from.
///
/// The position moves past a message only when the daemon has stored it and all messages before it.
@MainActor
final class Intake {
  /// An item of the stream: a message and the position after it.
  ///
  /// An item that is refused or empty has no message.
  struct Item {
    var message: Message?
    /// The position after the item; nil if it has none.
    var position: Position?
  }

  /// A position in the stream.
  enum Position: Hashable, Sendable {
    case after(String)
    /// The present end, because the server has withdrawn its ids.
    case anywhere
  }

  /// The number of pending messages at which reading pauses.
  static let mostMessages = 256
  /// The number of pending bytes at which reading pauses.
  static let mostBytes = 256 << 10

  private struct ItemGroup {
    /// The number of the connection that the batch arrived on.
    let connection: Int
    let positions: [Position?]
    var fates: [MessageFate]?
  }

  private unowned let bridge: Bridge
  private var batches: [ItemGroup] = []
  private var firstNumber = 0
  private var connection = 0
  private var messages = 0
  private var bytes = 0
  /// Called when reading may resume.
  var onRoom: () -> Void = {}

  init(_ bridge: Bridge) { self.bridge = bridge }

  /// Whether reading must pause.
  var isFull: Bool { messages >= Self.mostMessages || bytes >= Self.mostBytes }

  /// Begins a new connection, which starts at the stored position.
  func beginConnection() { connection += 1 }

  /// Hands over items in order.
  func add(_ items: [Item], from source: any Source) {
    guard !items.isEmpty else { return }
    let accepted = items.compactMap(\.message)
    let number = firstNumber + batches.count
    // An item without a message counts as stored.
    batches.append(
      ItemGroup(
        connection: connection, positions: items.map(\.position),
        fates: accepted.isEmpty ? items.map { _ in .stored } : nil))
    guard !accepted.isEmpty else { return movePosition(of: source.name) }
    let size = accepted.reduce(0) { $0 + $1.estimatedBytes }
    messages += accepted.count
    bytes += size
    let hasMessage = items.map { $0.message != nil }
    bridge.receive(accepted, from: source) { [weak self] fates in
      var rest = fates[...]
      self?.answered(number, hasMessage.map { $0 ? rest.popFirst() ?? .undelivered : .stored })
      self?.finish(accepted.count, size, source.name)
    }
  }

  private func answered(_ number: Int, _ fates: [MessageFate]) {
    guard number >= firstNumber, number - firstNumber < batches.count else { return }
    batches[number - firstNumber].fates = fates
  }

  private func finish(_ messages: Int, _ bytes: Int, _ name: String) {
    let wasFull = isFull
    self.messages -= messages
    self.bytes -= bytes
    movePosition(of: name)
    if wasFull, !isFull { onRoom() }
  }

  /// Moves the position past all finished items.
  private func movePosition(of name: String) {
    var position: Position?
    while let batch = batches.first, let fates = batch.fates {
      let end = fates.firstIndex(of: .undelivered) ?? fates.count
      position = batch.positions[..<end].last { $0 != nil } ?? position
      // The next connection repeats everything after the first undelivered message.
      let isCut = end < fates.count
      let done = isCut ? batches.prefix { $0.connection == batch.connection }.count : 1
      firstNumber += done
      batches.removeFirst(done)
    }
    if let position { bridge.remember(position, of: name) }
  }
}

/// The server that a stored position belongs to.
///
/// A source may keep its name in push.toml and get another URL or kind. The ids of one server mean nothing to another.
struct StreamOrigin: Hashable, Sendable {
  private static let digits = 16

  private let tag: String

  /// Makes the origin of a source; `kind` is `sse` or `ntfy`.
  init(_ kind: String, url: String) {
    tag = "\(kind):\(Digest.digits(Self.digits, of: url.utf8) ?? url)"
  }

  /// The line to store for a position.
  func line(_ position: String) -> String { "\(tag) \(position)" }

  /// The position in a stored line; nil without a line, or if the position belongs to another server.
  ///
  /// Earlier versions of the bridge stored the position alone. The line of a session with a broker has a space.
  func position(in line: String?) -> String? {
    guard let line, let space = line.firstIndex(of: " ") else { return line }
    return line[..<space] == tag ? String(line[line.index(after: space)...]) : nil
  }
}
