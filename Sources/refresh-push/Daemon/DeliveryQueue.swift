import RefreshAPI

/// The queue of messages for the daemon, sent in order and in batches.
///
/// A single call is in flight at a time. Its size stays below the protocol's bound and a socket's buffer, so that a
/// daemon that does not read cannot block the bridge.
struct DeliveryQueue {
  /// The most messages of one call.
  static let mostMessages = 256
  /// The most bytes of one call, about; a single message may have more.
  static let mostBytes = 64 << 10
  /// The most queued messages of a disconnected source.
  static let mostKept = 256

  /// Messages that a source handed over together and whose fates it receives together.
  private final class MessageGroup {
    let source: ObjectIdentifier
    private var fates: [MessageFate]
    private var left: Int
    private let then: ([MessageFate]) -> Void

    init(_ count: Int, from source: ObjectIdentifier, then: @escaping ([MessageFate]) -> Void) {
      self.source = source
      self.then = then
      fates = Array(repeating: .undelivered, count: count)
      left = count
    }

    /// Records the fate of a message; returns the action to run if it was the last one.
    func accept(_ fate: MessageFate, at index: Int) -> (() -> Void)? {
      fates[index] = fate
      left -= 1
      return left == 0 ? { [then, fates] in then(fates) } : nil
    }
  }

  private struct QueuedMessage {
    var message: Message
    let batch: MessageGroup
    let index: Int
    /// Whether the source receives the message again after a reconnect, which needs an id.
    let isRepeatable: Bool
  }

  /// The prefix of ids for messages without one, so that the daemon recognizes them in a repeated call.
  private let ownID = "bridge/\(String(UInt64.random(in: .min ... .max), radix: 16))"
  private var named = 0

  private var waiting: [QueuedMessage] = []
  /// The index of the first waiting message.
  ///
  /// Messages before it are removed later, in bulk.
  private var start = 0
  /// The messages of the call in flight.
  private var sent: [QueuedMessage] = []

  /// The number of messages without an answer.
  var count: Int { waiting.count - start + sent.count }

  /// Queues messages; `then` is called once all have an answer.
  mutating func add(_ messages: [Message], from source: ObjectIdentifier, then: @escaping ([MessageFate]) -> Void) {
    guard !messages.isEmpty else { return then([]) }
    let batch = MessageGroup(messages.count, from: source, then: then)
    for (index, message) in messages.enumerated() {
      waiting.append(
        QueuedMessage(message: named(message), batch: batch, index: index, isRepeatable: message.id != nil))
    }
  }

  private mutating func named(_ message: Message) -> Message {
    guard message.id == nil else { return message }
    var message = message
    named += 1
    message.id = "\(ownID)/\(named)"
    return message
  }

  /// Starts the next call; empty while another is in flight or no message waits.
  mutating func nextCall() -> [Wire.Delivery] {
    guard sent.isEmpty else { return [] }
    var bytes = 0
    while start < waiting.count, sent.count < Self.mostMessages {
      bytes += waiting[start].message.estimatedBytes
      guard sent.isEmpty || bytes <= Self.mostBytes else { break }
      sent.append(waiting[start])
      start += 1
    }
    if start > waiting.count / 2 {
      waiting.removeSubrange(..<start)
      start = 0
    }
    return sent.map { Wire.Delivery($0.message) }
  }

  /// Accepts the results of the call in flight; returns the actions to run, or nil if the number of results is wrong.
  mutating func accept(_ results: [Wire.DeliveryResult]) -> [() -> Void]? {
    guard results.count == sent.count else { return nil }
    defer { sent = [] }
    return zip(sent, results).compactMap { entry, result in
      entry.batch.accept(MessageFate(result), at: entry.index)
    }
  }

  /// Puts the messages of a failed call back at the front of the queue.
  ///
  /// - Parameter mayBeStored: whether the daemon may have stored the messages. Then they lose their mark as new, so that
  ///   the daemon recognizes them by their ids.
  mutating func requeue(mayBeStored: Bool) {
    if mayBeStored {
      for index in sent.indices { sent[index].message.isNew = false }
    }
    waiting.replaceSubrange(..<start, with: sent)
    start = 0
    sent = []
  }

  /// Drops the source's waiting messages that it will receive again; returns the actions to run.
  mutating func forget(_ source: ObjectIdentifier) -> [() -> Void] {
    var actions: [() -> Void] = []
    var kept: [QueuedMessage] = []
    var left = Self.mostKept
    for entry in waiting[start...] {
      if entry.batch.source != source {
        kept.append(entry)
      } else if !entry.isRepeatable, left > 0 {
        left -= 1
        kept.append(entry)
      } else if let action = entry.batch.accept(.undelivered, at: entry.index) {
        actions.append(action)
      }
    }
    waiting = kept
    start = 0
    return actions
  }
}

extension MessageFate {
  fileprivate init(_ result: Wire.DeliveryResult) {
    self = result.refusal.map(MessageFate.refused) ?? (result.fate == .known ? .known : .stored)
  }
}

extension Wire.Delivery {
  fileprivate init(_ message: Message) {
    self.init(
      app: message.app, payload: message.payload, urgency: message.urgency, id: message.id,
      isNew: message.isNew ? true : nil)
  }
}

/// A message from a source for an app.
struct Message: Hashable, Sendable {
  /// The id of the app in reverse-DNS form.
  var app: String
  /// The text of a JSON object, which the daemon checks.
  var payload: String
  /// The urgency; nil for normal.
  var urgency: Wire.Urgency?
  /// The id by which the daemon recognizes a repeated message, 256 bytes at most; nil for none.
  var id: String?
  /// Whether the source marks the message as new, although it may have used the id before.
  var isNew: Bool

  init(app: String, payload: String, urgency: Wire.Urgency? = nil, id: String? = nil, isNew: Bool = false) {
    (self.app, self.payload, self.urgency, self.id, self.isNew) = (app, payload, urgency, id, isNew)
  }

  /// The most bytes of a payload and its app's name that go to the daemon, which accepts a quarter of them.
  private static let mostBytes = 16 << 10
  /// The reason for the refusal of a larger message.
  static let tooLarge = "it has more than \(mostBytes >> 10) KiB"

  /// Whether the message may go to the daemon.
  var isWithinLimit: Bool { app.utf8.count + payload.utf8.count <= Self.mostBytes }

  /// The estimated size as JSON, where a quotation mark of the payload takes two bytes.
  var estimatedBytes: Int { 200 + app.utf8.count + 2 * payload.utf8.count + (id?.utf8.count ?? 0) }
}

/// The fate of a message that a source handed over to the bridge.
enum MessageFate: Hashable, Sendable {
  /// The daemon has stored the message on disk. The source may acknowledge it, or store its id.
  case stored
  /// The daemon has stored the message before.
  case known
  /// The message is refused for good. The reason contains no payload; the source treats the message like a stored one.
  case refused(String)
  /// The source was disconnected before the delivery. The source must not acknowledge the message.
  case undelivered
}
