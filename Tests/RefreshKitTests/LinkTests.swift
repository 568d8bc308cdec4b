import FoundationEssentials
import Testing

@testable import RefreshKit

/// A client connects, gives up and retries, on a clock that the test sets.
struct LinkTests {
  /// The milliseconds since the beginning, the event, the effect, and the state afterwards.
  typealias Row = (at: Int, event: Link.Event, effect: Link.Effect?, state: String)

  private func check(_ rows: [Row], sourceLocation: SourceLocation = #_sourceLocation) {
    var link = Link()
    let beginning = ContinuousClock.now
    for row in rows {
      let effect = link.handle(row.event, at: beginning + .milliseconds(row.at))
      #expect(effect == row.effect, "at \(row.at), \(row.event)", sourceLocation: sourceLocation)
      #expect(link.state.name == row.state, "at \(row.at), \(row.event)", sourceLocation: sourceLocation)
    }
  }

  @Test func connectsAndCloses() {
    check([
      (0, .opened(keepsTrying: false), .connect, "connecting"), (1, .answered, nil, "connected"),
      (2, .closed, .end, "closed"),
      (3, .broke(chance: 1), nil, "closed"), (4, .closed, nil, "closed"),
    ])
  }

  @Test func theFirstFailureIsThrown() {
    check([(0, .opened(keepsTrying: false), .connect, "connecting"), (1, .broke(chance: 1), .end, "closed")])
  }

  @Test func theFirstFailureIsRetriedWithKeepsTrying() {
    check([
      (0, .opened(keepsTrying: true), .connect, "connecting"),
      (1, .broke(chance: 1), .disconnect(retryingIn: .milliseconds(100)), "waiting"),
      (101, .timePassed(chance: 1), .connect, "connecting"), (102, .answered, nil, "connected"),
      (103, .extended, .connect, "connecting"), (104, .answered, nil, "connected"),
    ])
  }

  @Test func aCallTimesOutAfterFiveSeconds() {
    check([
      (0, .opened(keepsTrying: false), .connect, "connecting"), (4999, .timePassed(chance: 1), nil, "connecting"),
      (5000, .timePassed(chance: 1), .end, "closed"),
    ])
  }

  @Test func aLostConnectionIsRetriedWithAnIncreasingDelay() {
    check([
      (0, .opened(keepsTrying: false), .connect, "connecting"), (1, .answered, nil, "connected"),
      (40_000, .broke(chance: 1), .disconnect(retryingIn: .milliseconds(100)), "waiting"),
      (40_099, .timePassed(chance: 1), nil, "waiting"),
      (40_100, .timePassed(chance: 1), .connect, "connecting"),
      (40_101, .broke(chance: 1), .disconnect(retryingIn: .milliseconds(200)), "waiting"),
      (40_301, .timePassed(chance: 1), .connect, "connecting"),
      // A daemon that hangs.
      (45_301, .timePassed(chance: 1), .disconnect(retryingIn: .milliseconds(400)), "waiting"),
      (45_701, .timePassed(chance: 1), .connect, "connecting"), (45_702, .answered, nil, "connected"),
      // The connection was too short to reset the back-off.
      (50_000, .broke(chance: 1), .disconnect(retryingIn: .milliseconds(800)), "waiting"),
      (50_800, .timePassed(chance: 1), .connect, "connecting"), (50_801, .answered, nil, "connected"),
      // This connection was long enough.
      (80_801, .broke(chance: 1), .disconnect(retryingIn: .milliseconds(100)), "waiting"),
      (80_802, .closed, .end, "closed"),
    ])
  }

  /// All connections of a client end with its daemon, one after the other.
  @Test func thereIsOnlyOneLoop() {
    check([
      (0, .opened(keepsTrying: false), .connect, "connecting"), (1, .answered, nil, "connected"),
      (2, .broke(chance: 0), .disconnect(retryingIn: .milliseconds(50)), "waiting"),
      (2, .broke(chance: 0), nil, "waiting"), (3, .extended, nil, "waiting"), (4, .answered, nil, "waiting"),
      (52, .timePassed(chance: 0), .connect, "connecting"), (52, .timePassed(chance: 0), nil, "connecting"),
    ])
  }

  @Test(arguments: [(1, 100), (2, 200), (5, 1600), (9, 25_600), (10, 30_000), (1000, 30_000)])
  func pausesAreBounded(failures: Int, milliseconds: Int) {
    let longest = ReconnectBackOff.pause(after: failures, chance: 1)
    #expect(longest == .milliseconds(milliseconds))
    #expect(ReconnectBackOff.pause(after: failures, chance: 0) == longest / 2)
  }

  /// The diagram above the type matches the type.
  @Test func theDiagramMatchesTheType() throws {
    let tests = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2).joined(separator: "/")
    let text = try String(contentsOfFile: "\(tests)/../Sources/RefreshKit/Link.swift", encoding: .utf8)
    let drawn = text.split(separator: "\n").compactMap { line -> String? in
      let words = line.split(separator: " ")
      return words.first == "///" && words.count > 3 && words[2] == "->" ? "\(words[1]) -> \(words[3])" : nil
    }
    #expect(Set(drawn) == Set(transitions()))
  }

  /// All changes of state: every event in every state, before and after its time.
  private func transitions() -> [String] {
    let events: [Link.Event] = [
      .opened(keepsTrying: false), .opened(keepsTrying: true), .extended, .answered, .broke(chance: 0), .closed,
      .timePassed(chance: 0),
    ]
    let beginning = ContinuousClock.now
    var found: Set<String> = []
    var seen: Set<Link.State> = []
    var ahead = [Link()]
    while let link = ahead.popLast() {
      for event in events {
        for at in [beginning, beginning + .seconds(60)] {
          var next = link
          _ = next.handle(event, at: at)
          guard next.state != link.state else { continue }
          found.insert("\(link.state.name) -> \(next.state.name)")
          if seen.insert(next.state).inserted, seen.count < 200 { ahead.insert(next, at: 0) }
        }
      }
    }
    return Array(found)
  }
}

extension Link.State {
  fileprivate var name: String {
    switch self {
    case .closed: "closed"
    case .connecting: "connecting"
    case .connected: "connected"
    case .waiting: "waiting"
    }
  }
}
