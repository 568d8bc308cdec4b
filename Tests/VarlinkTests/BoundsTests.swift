import Glibc
import JSON
import Testing

@testable import Varlink

/// A client that wants too much costs itself.
struct BoundsTests {
  @Test func aMessageWithoutEndIsCutOff() throws {
    let stage = try Stage()
    let hog = try stage.client(), other = try stage.client()
    let megabyte = [UInt8](repeating: UInt8(ascii: " "), count: (1 << 20) + 1)
    var sent = 0
    while sent < megabyte.count {
      let count = hog.send(Array(megabyte[sent...]))
      guard count > 0 else { break }
      sent += count
      #expect(stage.ask(other, echo("on")) == [echoed("on")])
    }
    #expect(hog.messages() == [notACall])
    #expect(hog.isAtEnd)
    #expect(stage.server.connectionCount == 1)
  }

  @Test func aMessageOfTheGreatestLengthIsTaken() throws {
    var bounds = Bounds()
    bounds.messageBytes = 100_000
    let stage = try Stage(bounds)
    let client = try stage.client()
    let frame = echo("").utf8.count
    let longest = String(repeating: "x", count: bounds.messageBytes - frame)
    #expect(stage.ask(client, echo(longest)) == [echoed(longest)])
    #expect(stage.ask(client, echo(longest + "x")) == [notACall])
    #expect(client.isAtEnd)
  }

  @Test func ofAFloodOfClientsThatHaveLeftOnlyTheFirstAreServed() throws {
    let stage = try Stage()
    for number in 0..<40 {
      for _ in 0..<50 {
        let client = try stage.client()
        client.send(echo("\(number)"))
        client.close()
      }
      stage.settle()
    }
    // A second that begins meanwhile lets in some more.
    #expect((500..<1_500).contains(stage.heard.count), "\(stage.heard.count)")
    // Who waits for the reply is served.
    #expect(stage.ask(try stage.client(), echo("on")) == [echoed("on")])
  }

  @Test func aStreamThatNobodyReadsIsEnded() throws {
    var bounds = Bounds()
    bounds.unsentBytes = 10_000
    let stage = try Stage(bounds)
    let reader = try stage.client(), other = try stage.client()
    _ = stage.ask(reader, call("Later", #","more":true"#))
    let held = try stage.takeLater()
    var runs = 0
    held.onDisconnect { runs += 1 }
    var number = 0
    while !held.isOver, number < 1_000_000 {
      number += 1
      held.reply(Number(number: number), continues: true)
    }
    #expect(held.isOver)
    stage.settle()
    #expect(runs == 1)
    #expect(stage.ask(other, echo("on")) == [echoed("on")])
    // The replies before that are whole and in order.
    let numbers = reader.messages()
    #expect(reader.isAtEnd)
    #expect(numbers.first == #"{"parameters":{"number":1},"continues":true}"#)
    #expect(numbers.last == #"{"parameters":{"number":\#(numbers.count)},"continues":true}"#)
    #expect(numbers.count < number)
  }

  @Test func whoReadsLateGetsAllAnswersToItsCalls() throws {
    var bounds = Bounds()
    bounds.unsentBytes = 1000
    let stage = try Stage(bounds)
    let client = try stage.client()
    let long = String(repeating: "x", count: 1000)
    var asked = 0
    // Until the server takes up no more, because the answers before wait for their reader.
    while client.send(Array((echo(long) + "\0").utf8)) > 0 {
      asked += 1
      stage.settle()
    }
    #expect(asked > stage.heard.count)
    var answers: [String] = []
    while answers.count < asked, case let more = client.messages(), !more.isEmpty {
      answers += more
      stage.settle()
    }
    #expect(answers == [String](repeating: echoed(long), count: asked))
  }

  @Test func aStreamInOneBreathIsBoundedToo() throws {
    let stage = try Stage()
    let reader = try stage.client()
    _ = stage.ask(reader, call("Count", #","parameters":{"to":100000},"more":true"#))
    #expect(reader.isAtEnd)
    #expect(stage.server.connectionCount == 0)
  }

  @Test func anAnswerLongerThanTheBoundGetsThrough() throws {
    var bounds = Bounds()
    bounds.unsentBytes = 1000
    bounds.bytesPerUser = 1000
    let stage = try Stage(bounds)
    let client = try stage.client()
    let long = String(repeating: "x", count: 900_000)
    client.send(call("Later"))
    stage.settle()
    stage.later.removeFirst().reply(Echo(text: long, tags: nil))
    var answers: [String] = []
    while answers.isEmpty, !client.isAtEnd {
      stage.settle()
      answers = client.messages()
    }
    #expect(answers == [echoed(long)])
  }

  @Test func theServerIsToldOnceThatALongAnswerIsSent() throws {
    let stage = try Stage()
    var told = 0
    stage.server.afterLongReply = { told += 1 }
    let client = try stage.client()
    #expect(stage.ask(client, echo("short")) == [echoed("short")])
    #expect(told == 0)
    let long = String(repeating: "x", count: 300_000)
    client.send(call("Later"))
    stage.settle()
    try stage.takeLater().reply(Echo(text: long, tags: nil))
    var answers: [String] = []
    while answers.isEmpty, !client.isAtEnd {
      stage.settle()
      answers = client.messages()
    }
    #expect(answers == [echoed(long)])
    #expect(stage.ask(client, echo("short")) == [echoed("short")])
    #expect(told == 1)
  }

  @Test func oneUserKeepsOnlySoMuchHere() throws {
    var bounds = Bounds()
    bounds.bytesPerUser = 40_000
    let stage = try Stage(bounds)
    let clients = try stage.clients(10)
    for client in clients {
      client.send([UInt8](repeating: UInt8(ascii: "["), count: 9000))
      stage.settle()
    }
    // Four keep 36,000 bytes; each further one was closed as it went beyond.
    #expect(stage.server.connectionCount == 4)
    let other = try stage.client()
    #expect(stage.ask(other, echo("on")) == [echoed("on")])
    // A client that leaves frees its share.
    clients[0].close()
    stage.settle()
    other.send([UInt8](repeating: UInt8(ascii: "["), count: 9000))
    stage.settle()
    #expect(stage.server.connectionCount == 4)
  }

  @Test func aLongCallCountsUntilItIsOver() throws {
    var bounds = Bounds()
    bounds.bytesPerUser = 40_000
    let stage = try Stage(bounds)
    let clients = try stage.clients(10)
    let long = call("Later", #","more":false,"padding":"\#(String(repeating: "x", count: 9000))""#)
    for client in clients {
      client.send(long)
      stage.settle()
    }
    #expect(stage.server.connectionCount == 4)
    while let later = stage.later.popLast() { later.fail(Refused(because: "enough")) }
    stage.settle()
    for client in try stage.clients(3) {
      client.send(long)
      stage.settle()
    }
    #expect(stage.server.connectionCount == 7, "calls that are over are not counted")
  }

  @Test func whatALateReaderHasReadIsForgotten() throws {
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { ends.forEach { close($0) } }
    var output = OutputBuffer()
    var chunk = [UInt8](repeating: 0, count: 50_000)
    var most = 0
    for _ in 0..<1000 {
      let isWritten = output.append(String(repeating: "x", count: 50_000), as: .last)
      let isWhole = isWritten && output.flush(to: ends[0])
      #expect(isWhole)
      if !output.isBlocked { continue }
      // It reads as much as is written, and is a socket's buffer behind for ever.
      recv(ends[1], &chunk, chunk.count, 0)
      most = max(
        most, Mirror(reflecting: output).children.compactMap { ($0.value as? JSONWriter)?.bytes.count }.max() ?? 0)
    }
    #expect(most > 0)
    #expect(most < 1 << 20)
  }

  @Test func aChattyClientDoesNotKeepOthersWaiting() throws {
    let stage = try Stage()
    let chatty = try stage.client(), other = try stage.client()
    stage.settle()
    let calls = Array(String(repeating: echo("x") + "\0", count: 2000).utf8)
    #expect(chatty.send(calls) > 50_000)
    other.send(echo("me"))
    // The first turn takes the bytes in, the second one call of each.
    stage.turn()
    stage.turn()
    #expect(other.messages() == [echoed("me")])
    #expect(stage.heard.count < 200)
  }
}
