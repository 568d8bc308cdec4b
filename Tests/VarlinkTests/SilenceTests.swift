import Testing

@testable import Varlink

/// Connections that say nothing give way to those that do.
struct SilenceTests {
  private func bounds(_ connections: Int, perUser: Int) -> Bounds {
    var bounds = Bounds()
    bounds.connections = connections
    bounds.connectionsPerUser = perUser
    return bounds
  }

  @Test(arguments: [(100, 4), (4, 100)])
  func whoIsSilentLongestGivesWay(all: Int, perUser: Int) throws {
    let stage = try Stage(bounds(all, perUser: perUser))
    let clients = try stage.clients(4)
    var stays: [RawClient] = []
    // All but the second speak, the first last.
    for index in [2, 3, 0] { #expect(stage.ask(clients[index], echo("on")) == [echoed("on")]) }
    for evicted in [1, 2] {
      let newcomer = try stage.client()
      #expect(stage.ask(newcomer, call("Later")) == [])
      _ = clients.map { $0.messages() }
      #expect(clients[evicted].isAtEnd)
      #expect(clients.count { $0.isAtEnd } == evicted)
      stays.append(newcomer)
    }
    #expect(stage.ask(clients[0], echo("still")) == [echoed("still")])
  }

  @Test func whoHasACallInFlightOrALeaseStays() throws {
    let stage = try Stage(bounds(100, perUser: 3))
    let waiting = try stage.client(), leaseholder = try stage.client()
    _ = stage.ask(waiting, call("Later"))
    _ = stage.ask(leaseholder, call("Later"))
    var ended = false
    let lease = try stage.takeLater()
    lease.onDisconnect { ended = true }
    lease.reply()
    _ = try stage.clients(20)
    #expect(stage.ask(leaseholder, echo("here")) == [#"{"parameters":{}}"#, echoed("here")])
    #expect(!ended)
    stage.later.removeFirst().reply()
    stage.settle()
    #expect(waiting.messages() == [#"{"parameters":{}}"#])
  }

  @Test func whenNobodyCanGiveWayTheNewcomerIsTurnedAway() throws {
    let stage = try Stage(bounds(100, perUser: 2))
    let clients = try stage.clients(2)
    for client in clients { _ = stage.ask(client, call("Later")) }
    let newcomer = try stage.client()
    #expect(stage.ask(newcomer, echo("me")) == [])
    #expect(newcomer.isAtEnd)
    // Connected clients are served as before, and when one leaves there is room again.
    stage.later.removeFirst().reply()
    clients[0].close()
    stage.settle()
    let next = try stage.client()
    #expect(stage.ask(next, echo("me")) == [echoed("me")])
  }

  @Test func manySilentOnesLeaveRoomForTheNext() throws {
    let stage = try Stage(bounds(100, perUser: 50))
    let speaker = try stage.client()
    // Kept, so that none goes by itself.
    var silent: [RawClient] = []
    for _ in 0..<10 {
      silent += try stage.clients(40)
      #expect(stage.server.connectionCount <= 50)
      #expect(stage.ask(speaker, echo("on")) == [echoed("on")])
    }
  }
}
