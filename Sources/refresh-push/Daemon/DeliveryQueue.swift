import RefreshAPI

/// What the daemon is still to be given, and how much of it goes into one call.
///
/// One call at a time, which stays far below the bound of the protocol on one message and below what a socket holds, so
/// that a daemon that does not read stops nobody. Messages go in the order in which they came.
struct DeliveryQueue {
  /// The most messages of one call.
  static let mostMessages = 256
  /// The most bytes of one call, about; a single message is given whatever it has.
  static let mostBytes = 64 << 10
  /// The most messages of a source that are kept though it was disconnected.
  static let mostKept = 256

  /// Messages that a source handed over together, and is told of together.
  private final class Batch {
    let source: ObjectIdentifier
    private var acceptances: [Acceptance]
    private var left: Int
    private let then: ([Acceptance]) -> Void

    init(_ count: Int, from source: ObjectIdentifier, then: @escaping ([Acceptance]) -> Void) {
      self.source = source
      self.then = then
      acceptances = Array(repeating: .later, count: count)
      left = count
    }

    /// Gives what is to be called if this was the last answer.
    func take(_ acceptance: Acceptance, at index: Int) -> (() -> Void)? {
      acceptances[index] = acceptance
      left -= 1
      return left == 0 ? { [then, acceptances] in then(acceptances) } : nil
    }
  }

  private struct Entry {
    var message: Message
    let batch: Batch
    let index: Int
    /// Whether its source has it again when it connects again: it does not ask for what has no id.
    let comesAgain: Bool
  }

  /// Begins the ids of messages that came without, by which the daemon knows them if a call has to be made again.
  private let ownID = "bridge/\(String(UInt64.random(in: .min ... .max), radix: 16))"
  private var named = 0

  private var waiting: [Entry] = []
  /// How many of `waiting` are out of it already, because the first of an array are dear to remove.
  private var taken = 0
  /// What the last call gave and has no answer yet.
  private var given: [Entry] = []

  /// How many messages have no answer yet.
  var count: Int { waiting.count - taken + given.count }

  /// Takes messages; `then` is called once all have an answer.
  mutating func add(_ messages: [Message], from source: ObjectIdentifier, then: @escaping ([Acceptance]) -> Void) {
    guard !messages.isEmpty else { return then([]) }
    let batch = Batch(messages.count, from: source, then: then)
    for (index, message) in messages.enumerated() {
      waiting.append(Entry(message: named(message), batch: batch, index: index, comesAgain: message.id != nil))
    }
  }

  private mutating func named(_ message: Message) -> Message {
    guard message.id == nil else { return message }
    var message = message
    named += 1
    message.id = "\(ownID)/\(named)"
    return message
  }

  /// What the next call gives; empty while the last one has no answer, or if there is nothing to give.
  mutating func takeCall() -> [Wire.Delivery] {
    guard given.isEmpty else { return [] }
    var bytes = 0
    while taken < waiting.count, given.count < Self.mostMessages {
      bytes += waiting[taken].message.bytesAbout
      guard given.isEmpty || bytes <= Self.mostBytes else { break }
      given.append(waiting[taken])
      taken += 1
    }
    if taken > waiting.count / 2 {
      waiting.removeSubrange(..<taken)
      taken = 0
    }
    return given.map { Wire.Delivery($0.message) }
  }

  /// The last call has its answer; gives what is to be called because of it, or nil if it is no answer to that call.
  mutating func takeAnswer(_ results: [Wire.DeliveryResult]) -> [() -> Void]? {
    guard results.count == given.count else { return nil }
    defer { given = [] }
    return zip(given, results).compactMap { entry, result in
      entry.batch.take(result.refusal.map(Acceptance.refused) ?? .stored, at: entry.index)
    }
  }

  /// The last call has no answer and gets none: what it gave is given again first.
  ///
  /// - Parameter mayBeStored: whether the daemon may have taken it all the same. Then it is not told that it is new,
  ///   which the source said of its own first giving: under the same id it is the same message.
  mutating func takeBack(mayBeStored: Bool) {
    if mayBeStored {
      for index in given.indices { given[index].message.isNew = false }
    }
    waiting.replaceSubrange(..<taken, with: given)
    taken = 0
    given = []
  }

  /// Forgets what the daemon was not given yet of a source and what it brings again; gives what is to be called because
  /// of it.
  mutating func forget(_ source: ObjectIdentifier) -> [() -> Void] {
    var actions: [() -> Void] = []
    var kept: [Entry] = []
    var left = Self.mostKept
    for entry in waiting[taken...] {
      if entry.batch.source != source {
        kept.append(entry)
      } else if !entry.comesAgain, left > 0 {
        left -= 1
        kept.append(entry)
      } else if let action = entry.batch.take(.later, at: entry.index) {
        actions.append(action)
      }
    }
    waiting = kept
    taken = 0
    return actions
  }
}

extension Wire.Delivery {
  fileprivate init(_ message: Message) {
    self.init(
      app: message.app, payload: message.payload, urgency: message.urgency, id: message.id,
      isNew: message.isNew ? true : nil)
  }
}
