import RefreshAPI
import Testing

@testable import refresh_push

/// Deliveries that the bridge repeats because a call had no answer.
struct DeliveryAgainTests {
  private let source = Place()

  /// Something with an identity of its own.
  private final class Place {}

  private func queue() -> DeliveryQueue {
    var queue = DeliveryQueue()
    let message = Message(app: "org.example.todo", payload: "{}", id: "mqtt/broker/1/1/0", isNew: true)
    queue.add([message], from: ObjectIdentifier(source)) { _ in }
    return queue
  }

  @Test func whatTheDaemonMayHaveIsNotGivenAsNew() {
    var queue = queue()
    #expect(queue.nextCall().map(\.isNew) == [true])
    queue.requeue(mayBeStored: true)
    #expect(queue.nextCall().map(\.isNew) == [nil])
  }

  @Test func whatTheDaemonSaysThatItDoesNotHaveIsStillNew() {
    var queue = queue()
    _ = queue.nextCall()
    queue.requeue(mayBeStored: false)
    #expect(queue.nextCall().map(\.isNew) == [true])
  }
}
