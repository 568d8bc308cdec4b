import Glibc
import Testing

@testable import Varlink

/// A handler learns of the end of a connection.
struct DisconnectTests {
  /// How the connection ends.
  enum End: CaseIterable {
    case closedByClient, closedUnread, malformed, serverClosed
  }

  @Test(arguments: End.allCases)
  func theActionRunsOnceHoweverTheConnectionEnds(end: End) throws {
    let stage = try Stage()
    let client = try stage.client()
    var runs: [String] = []
    _ = stage.ask(client, call("Later"))
    let held = try stage.takeLater()
    held.onDisconnect("lease") { runs.append("replaced") }
    held.onDisconnect("lease") { runs.append("lease") }
    held.onDisconnect("other") { runs.append("cancelled") }
    held.connection.cancelDisconnectAction("other")
    held.reply()
    stage.settle()
    #expect(runs == [])
    switch end {
    case .closedByClient:
      _ = client.messages()
      client.close()
    case .closedUnread: client.close()
    case .malformed: client.send("{")
    case .serverClosed: stage.server.close()
    }
    stage.settle()
    #expect(runs == ["lease"])
    #expect(stage.server.connectionCount == 0)
    held.onDisconnect { runs.append("too late") }
    stage.server.close()
    #expect(runs == ["lease"])
  }

  @Test func theActionRunsWhileTheCallIsInFlight() throws {
    let stage = try Stage()
    let client = try stage.client()
    _ = stage.ask(client, call("Later", #","more":true"#))
    let held = try stage.takeLater()
    var runs = 0
    held.onDisconnect { runs += 1 }
    held.reply(Number(number: 1), continues: true)
    // It has sent more, which nobody reads as long as its call is in flight.
    client.send(echo("later"))
    stage.settle()
    client.close()
    stage.settle()
    #expect(runs == 1)
    #expect(held.isOver)
    held.reply(Number(number: 2), continues: false)
    #expect(stage.server.connectionCount == 0)
  }

  @Test func anAnswerRunsNoAction() throws {
    let stage = try Stage()
    let client = try stage.client()
    _ = stage.ask(client, call("Later"))
    let held = try stage.takeLater()
    var runs = 0
    held.onDisconnect { runs += 1 }
    client.close()
    // The socket is closed already, which the answer finds out; the action waits for the reactor's turn.
    held.reply(Number(number: 1))
    #expect(runs == 0)
    stage.settle()
    #expect(runs == 1)
  }

  @Test func closingTheServerLetsTheClientsGoAndTheFileToo() throws {
    let stage = try Stage()
    let client = try stage.client()
    _ = stage.ask(client, echo("1"))
    stage.server.stopAccepting()
    #expect(access(stage.path, F_OK) != 0)
    #expect(stage.ask(client, echo("2")) == [echoed("2")])
    stage.server.close()
    #expect(client.messages() == [])
    #expect(client.isAtEnd)
  }
}
