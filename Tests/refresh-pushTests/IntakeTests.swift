import RefreshAPI
import Testing

@testable import refresh_push

/// How far a stream is read, and where it goes on.
@MainActor
struct IntakeTests {
  let source = ScriptedSource()
  let stage: Stage
  let intake: Intake

  init() throws {
    stage = try Stage([source])
    intake = Intake(stage.bridge)
    try stage.daemon.start()
    try stage.turn { [source] in source.connects == 1 }
    stage.bridge.connected(source)
    intake.beginConnection()
  }

  private func item(_ number: Int, size: Int = 2) -> Intake.Item {
    Intake.Item(
      message: Message(app: "a.b", payload: String(repeating: "x", count: size), id: "\(number)"),
      position: .after("\(number)"))
  }

  private func item(position: String) -> Intake.Item { Intake.Item(position: .after(position)) }

  @Test func thePlaceMovesWhenTheDaemonHasTheMessage() throws {
    intake.add([item(1), item(2)], from: source)
    #expect(stage.state["home"] == nil)
    try stage.turn { stage.state["home"] == "2" }
    #expect(stage.daemon.stored.count == 2)
  }

  @Test func whatSaysNothingMovesItInItsTurnOnly() throws {
    intake.add([item(position: "a")], from: source)
    #expect(stage.state["home"] == "a")
    intake.add([item(1)], from: source)
    intake.add([item(position: "b")], from: source)
    #expect(stage.state["home"] == "a")
    try stage.turn { stage.state["home"] == "b" }
    intake.add([item(position: "c"), item(2), item(position: "d")], from: source)
    #expect(stage.state["home"] == "b")
    try stage.turn { stage.state["home"] == "d" }
  }

  @Test func aServerMayTakeItsIDsBack() throws {
    intake.add([item(1)], from: source)
    try stage.turn { stage.state["home"] == "1" }
    intake.add([Intake.Item(position: .anywhere)], from: source)
    #expect(stage.state["home"] == nil)
  }

  @Test func whatARefusalIsAboutIsNotAskedForAgain() throws {
    stage.daemon.answer = { $0.map { _ in Wire.DeliveryResult(refusal: "no") } }
    intake.add([item(1)], from: source)
    try stage.turn { stage.state["home"] == "1" }
  }

  @Test func itStopsBeforeWhatWasNotHandedOn() throws {
    intake.add([item(1)], from: source)
    try stage.turn { stage.state["home"] == "1" }
    stage.daemon.answer = { _ in nil }
    intake.add([item(2)], from: source)
    intake.add([item(position: "3")], from: source)
    try stage.turn { stage.daemon.calls == 2 }
    // Nothing is stored, and the source is disconnected.
    stage.daemon.permission = .init(mayConnect: false, network: "home")
    try stage.turn { source.disconnects == 1 }
    #expect(stage.state["home"] == "1")
    #expect(!intake.isFull)
    // The next connection brings both again.
    stage.daemon.answer = { $0.map { _ in Wire.DeliveryResult(fate: .queued) } }
    stage.daemon.permission = .init(mayConnect: true, network: "home")
    try stage.turn { source.connects == 2 }
    stage.bridge.connected(source)
    intake.beginConnection()
    intake.add([item(2), item(position: "3")], from: source)
    try stage.turn { stage.state["home"] == "3" }
  }

  @Test func itIsFullWithManyOrLargeMessagesUntilTheyAreStored() throws {
    var rooms = 0
    intake.onRoom = { rooms += 1 }
    for size in [2, 16_000] {
      stage.daemon.answer = { _ in nil }
      var count = 0
      while !intake.isFull {
        count += 1
        intake.add([item(count, size: size)], from: source)
        try #require(count <= Intake.mostMessages)
      }
      #expect(count == (size == 2 ? Intake.mostMessages : 9))
      stage.daemon.answer = { $0.map { _ in Wire.DeliveryResult(fate: .queued) } }
      try stage.turn { !intake.isFull }
      try stage.turn { stage.state["home"] == "\(count)" }
    }
    #expect(rooms == 2)
  }
}
