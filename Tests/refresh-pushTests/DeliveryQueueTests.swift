import RefreshAPI
import Testing

@testable import refresh_push

/// The order of deliveries, and the answers to sources.
struct DeliveryQueueTests {
  private final class Answers {
    var fates: [String: [MessageFate]] = [:]
  }

  private final class Sender {}

  private let answers = Answers()
  private let one = Sender()
  private let other = Sender()

  private func messages(_ range: ClosedRange<Int>, size: Int = 10) -> [Message] {
    range.map { Message(app: "a.b", payload: String(repeating: "x", count: size), id: "\($0)") }
  }

  private func add(_ messages: [Message], _ name: String, from sender: Sender? = nil, to queue: inout DeliveryQueue) {
    queue.add(messages, from: ObjectIdentifier(sender ?? one)) { [answers] in answers.fates[name] = $0 }
  }

  private func answer(_ call: [Wire.Delivery], in queue: inout DeliveryQueue) throws {
    let actions = queue.accept(call.map { _ in Wire.DeliveryResult(fate: .queued) })
    for action in try #require(actions) { action() }
  }

  @Test func oneCallAtATimeInOrder() throws {
    var queue = DeliveryQueue()
    add(messages(1...3), "first", to: &queue)
    let call = queue.nextCall()
    #expect(call.map(\.id) == ["1", "2", "3"])
    add(messages(4...5), "second", to: &queue)
    #expect(queue.nextCall().isEmpty)
    #expect(answers.fates.isEmpty)
    try answer(call, in: &queue)
    #expect(answers.fates == ["first": [.stored, .stored, .stored]])
    #expect(queue.nextCall().map(\.id) == ["4", "5"])
  }

  @Test func callsAreBoundedInNumberAndBytes() throws {
    var queue = DeliveryQueue()
    add(messages(1...1000), "many", to: &queue)
    var calls: [Int] = []
    while queue.count > 0 {
      let call = queue.nextCall()
      calls.append(call.count)
      try answer(call, in: &queue)
    }
    #expect(calls.allSatisfy { $0 <= DeliveryQueue.mostMessages })
    #expect(calls.reduce(0, +) == 1000)
    #expect(answers.fates["many"]?.count == 1000)
    add(messages(1...20, size: 16_000), "large", to: &queue)
    #expect(queue.nextCall().count == 2)
    queue.requeue(mayBeStored: true)
    add(messages(1...1, size: 200_000), "larger", to: &queue)
    while queue.count > 1 {
      let call = queue.nextCall()
      try answer(call, in: &queue)
    }
    #expect(queue.nextCall().count == 1)
  }

  @Test func whatHasNoAnswerIsGivenAgainFirst() throws {
    var queue = DeliveryQueue()
    add(messages(1...300), "all", to: &queue)
    for _ in 0..<3 {
      let call = queue.nextCall()
      #expect(call.first?.id == "1")
      queue.requeue(mayBeStored: true)
    }
    var ids: [String?] = []
    while queue.count > 0 {
      let call = queue.nextCall()
      ids += call.map(\.id)
      try answer(call, in: &queue)
      queue.requeue(mayBeStored: true)
    }
    #expect(ids == (1...300).map { "\($0)" })
    #expect(answers.fates["all"] == Array(repeating: .stored, count: 300))
  }

  @Test func aRefusalIsToldWithItsReason() throws {
    var queue = DeliveryQueue()
    add(messages(1...2), "two", to: &queue)
    _ = queue.nextCall()
    let actions = queue.accept([Wire.DeliveryResult(refusal: "no such app"), Wire.DeliveryResult(fate: .known)])
    for action in try #require(actions) { action() }
    #expect(answers.fates == ["two": [.refused("no such app"), .known]])
  }

  @Test func anAnswerToAnotherNumberOfMessagesIsNone() {
    var queue = DeliveryQueue()
    add(messages(1...2), "two", to: &queue)
    _ = queue.nextCall()
    #expect(queue.accept([Wire.DeliveryResult(fate: .queued)]) == nil)
    queue.requeue(mayBeStored: true)
    #expect(queue.nextCall().map(\.id) == ["1", "2"])
  }

  @Test func whatASourceIsDisconnectedWithIsForLater() throws {
    var queue = DeliveryQueue()
    add(messages(1...1), "given", to: &queue)
    let call = queue.nextCall()
    add(messages(2...3), "waiting", to: &queue)
    add(messages(4...4), "other", from: other, to: &queue)
    for action in queue.forget(ObjectIdentifier(one)) { action() }
    #expect(answers.fates == ["waiting": [.undelivered, .undelivered]])
    try answer(call, in: &queue)
    #expect(answers.fates["given"] == [.stored])
    #expect(queue.nextCall().map(\.id) == ["4"])
  }

  @Test func whatHasNoIDGetsOneByWhichItIsKnownAgain() {
    var queue = DeliveryQueue()
    add([Message(app: "a.b", payload: "{}"), Message(app: "a.b", payload: "{}")], "two", to: &queue)
    let ids = queue.nextCall().map(\.id)
    #expect(ids[0] != nil && ids[0] != ids[1])
    queue.requeue(mayBeStored: true)
    #expect(queue.nextCall().map(\.id) == ids)
  }

  @Test func whatNobodyBringsAgainIsKeptWithinBounds() {
    var queue = DeliveryQueue()
    let count = DeliveryQueue.mostKept + 10
    add(messages(1...5), "named", to: &queue)
    add((1...count).map { _ in Message(app: "a.b", payload: "{}") }, "nameless", to: &queue)
    for action in queue.forget(ObjectIdentifier(one)) { action() }
    #expect(answers.fates["named"] == Array(repeating: .undelivered, count: 5))
    #expect(answers.fates["nameless"] == nil)
    #expect(queue.count == DeliveryQueue.mostKept)
  }

  @Test func noMessagesAreAnsweredAtOnce() {
    var queue = DeliveryQueue()
    add([], "none", to: &queue)
    #expect(answers.fates == ["none": []])
    #expect(queue.nextCall().isEmpty)
  }
}
