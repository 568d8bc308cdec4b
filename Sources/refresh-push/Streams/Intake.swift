/// What a stream has handed over and what has become of it: how much of the stream may be read on, and where to go on
/// the next time.
///
/// The place moves only over messages that the daemon has, in the order in which they came.
@MainActor
final class Intake {
  /// Something that came: a message, or none where it is refused at once or says nothing, and the place after it.
  struct Item {
    var message: Message?
    /// Where to go on after it; nil if it does not say.
    var place: Place?
  }

  /// Where to go on.
  enum Place: Hashable, Sendable {
    case after(String)
    /// From now on: the server has taken its ids back.
    case anywhere
  }

  /// With so many messages without an answer, no more is read.
  static let mostMessages = 256
  /// With so many bytes of them, no more is read either.
  static let mostBytes = 256 << 10

  private struct Batch {
    /// Which connection it came on.
    let connection: Int
    let places: [Place?]
    var acceptances: [Acceptance]?
  }

  private unowned let bridge: Bridge
  private var batches: [Batch] = []
  private var firstNumber = 0
  private var connection = 0
  private var messages = 0
  private var bytes = 0
  /// Called when there is room again.
  var onRoom: () -> Void = {}

  init(_ bridge: Bridge) { self.bridge = bridge }

  /// Whether no more is to be read for now.
  var isFull: Bool { messages >= Self.mostMessages || bytes >= Self.mostBytes }

  /// What comes from now on comes on another connection, which begins at the place that is remembered.
  func beginConnection() { connection += 1 }

  /// Hands over what came, in order.
  func add(_ items: [Item], from source: any Source) {
    guard !items.isEmpty else { return }
    let taken = items.compactMap(\.message)
    let number = firstNumber + batches.count
    // What carries no message counts like one that is stored.
    batches.append(
      Batch(
        connection: connection, places: items.map(\.place),
        acceptances: taken.isEmpty ? items.map { _ in .stored } : nil))
    guard !taken.isEmpty else { return settle(source.name) }
    let size = taken.reduce(0) { $0 + $1.bytesAbout }
    messages += taken.count
    bytes += size
    let hasMessage = items.map { $0.message != nil }
    bridge.take(taken, from: source) { [weak self] acceptances in
      var rest = acceptances[...]
      self?.answered(number, hasMessage.map { $0 ? rest.popFirst() ?? .later : .stored })
      self?.paid(taken.count, size, source.name)
    }
  }

  private func answered(_ number: Int, _ acceptances: [Acceptance]) {
    guard number >= firstNumber, number - firstNumber < batches.count else { return }
    batches[number - firstNumber].acceptances = acceptances
  }

  private func paid(_ messages: Int, _ bytes: Int, _ name: String) {
    let wasFull = isFull
    self.messages -= messages
    self.bytes -= bytes
    settle(name)
    if wasFull, !isFull { onRoom() }
  }

  /// Moves the place over all that is done with.
  private func settle(_ name: String) {
    var place: Place?
    while let batch = batches.first, let acceptances = batch.acceptances {
      let end = acceptances.firstIndex(of: .later) ?? acceptances.count
      place = batch.places[..<end].last { $0 != nil } ?? place
      // What follows on a connection that was let go is brought again by the next one.
      let isCut = end < acceptances.count
      let done = isCut ? batches.prefix { $0.connection == batch.connection }.count : 1
      firstNumber += done
      batches.removeFirst(done)
    }
    if let place { bridge.remember(place, of: name) }
  }
}
