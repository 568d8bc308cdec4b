import Testing

@testable import RefreshKit

/// The refreshes that a handler receives: script in, trace out.
struct ServingTests {
  private static let beginning = ContinuousClock.now
  private static let done = Completion(RefreshResult.newData)

  /// A refresh with a deadline in 30 s.
  private static func order(_ id: String) -> Serving.Order {
    Serving.Order(
      id: id, token: "token-\(id)", trigger: .interval, payload: nil, contentID: nil, session: nil,
      deadline: beginning + .seconds(30))
  }

  private func trace(_ script: (second: Int, event: Serving.Event)...) -> [String] {
    var serving = Serving()
    return script.map { second, event in
      serving.handle(event, at: Self.beginning + .seconds(second)).map(\.word).joined(separator: ", ")
    }
  }

  @Test func aRefreshIsStartedAndCompleted() {
    #expect(
      trace((0, .performed(Self.order("1"))), (1, .returned(id: "1", Self.done)), (2, .performed(Self.order("2"))))
        == ["start 1", "complete token-1", "start 2"])
  }

  @Test func theHandlerIsWarnedBeforeItIsStopped() {
    #expect(
      trace(
        (0, .performed(Self.order("1"))), (25, .expiring(id: "1", deadline: nil)),
        (26, .expiring(id: "1", deadline: nil)), (30, .cancelled(id: "1")),
        (31, .cancelled(id: "1")), (32, .returned(id: "1", Self.done)))
        == ["start 1", "expire", "", "expire, cancel", "", "complete token-1"])
  }

  /// If the daemon hangs, the client itself stops the handler; otherwise the daemon does so first.
  @Test func theClientEnforcesTheDeadlineWithoutTheDaemon() {
    #expect(
      trace((0, .performed(Self.order("1"))), (30, .timePassed), (31, .timePassed), (32, .timePassed))
        == ["start 1", "", "expire, cancel", ""])
  }

  @Test func aLostRefreshIsNotCompleted() {
    #expect(
      trace(
        (0, .performed(Self.order("1"))), (1, .disconnected), (2, .returned(id: "1", Self.done)),
        (3, .performed(Self.order("2"))), (4, .returned(id: "2", Self.done)))
        == ["start 1", "expire, cancel", "", "start 2", "complete token-2"])
  }

  @Test func theHandlerNeverRunsTwice() {
    #expect(
      trace(
        (0, .performed(Self.order("1"))), (1, .performed(Self.order("2"))), (2, .cancelled(id: "2")),
        (3, .returned(id: "1", Self.done)), (4, .performed(Self.order("3"))))
        == ["start 1", "complete token-2", "", "complete token-1", "start 3"])
  }

  /// The client may attach again only after that.
  @Test func aLostRefreshOccupiesTheHandlerUntilItReturns() {
    var serving = Serving()
    let script: [(event: Serving.Event, isOccupied: Bool)] = [
      (.performed(Self.order("1")), false), (.cancelled(id: "1"), false), (.disconnected, true),
      (.disconnected, true), (.returned(id: "1", Self.done), false),
    ]
    for step in script {
      _ = serving.handle(step.event, at: Self.beginning)
      #expect(serving.isOccupied == step.isOccupied, "\(step.event)")
    }
  }

  @Test func lateAndForeignEventsDoNothing() {
    #expect(
      trace(
        (0, .expiring(id: "1", deadline: nil)), (0, .cancelled(id: "1")), (0, .returned(id: "1", Self.done)),
        (0, .disconnected),
        (0, .timePassed), (0, .performed(Self.order("1"))), (1, .cancelled(id: "7")),
        (1, .returned(id: "7", Self.done))) == ["", "", "", "", "", "start 1", "", ""])
  }

  @Test func anErrorIsAFailureWithItsDescription() {
    #expect(Completion(RetryLater(after: .seconds(5), "busy")).retryAfter == .seconds(5))
    #expect(Completion(RetryLater(after: .seconds(5), "busy")).message == "busy")
    #expect(Completion(RetryLater(after: .seconds(90_000))).retryAfter == .seconds(86_400))
    #expect(Completion(RetryLater(after: .seconds(-1))).retryAfter == .zero)
    #expect(Completion(Broken(text: "no route")).message == "no route")
    #expect(Completion(Broken(text: String(repeating: "x", count: 5000))).message?.utf8.count == 200)
    #expect(Completion(CancellationError()).outcome == .failed)
  }

  private struct Broken: Error, CustomStringConvertible {
    let text: String
    var description: String { text }
  }
}

extension Serving.Effect {
  fileprivate var word: String {
    switch self {
    case .start(let order): "start \(order.id)"
    case .expire: "expire"
    case .cancel: "cancel"
    case .complete(let token, _): "complete \(token)"
    }
  }
}
