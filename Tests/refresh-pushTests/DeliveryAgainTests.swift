import RefreshAPI
import Testing

@testable import refresh_push

/// What the bridge gives the daemon again because a call had no answer.
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
    #expect(queue.takeCall().map(\.isNew) == [true])
    queue.takeBack(mayBeStored: true)
    #expect(queue.takeCall().map(\.isNew) == [nil])
  }

  @Test func whatTheDaemonSaysThatItDoesNotHaveIsStillNew() {
    var queue = queue()
    _ = queue.takeCall()
    queue.takeBack(mayBeStored: false)
    #expect(queue.takeCall().map(\.isNew) == [true])
  }
}
