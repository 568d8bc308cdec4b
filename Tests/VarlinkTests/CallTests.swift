import Glibc
import Testing

@testable import Varlink

/// Each call gets its reply.
struct CallTests {
  static let calls: [(String, [String])] = [
    (echo("hello"), [echoed("hello")]),
    (echo(#"ü \" \u0000 / 🜁"#), [echoed(#"ü \" \u0000 / 🜁"#)]),
    (call("Later", #","oneway":true"#), []),
    (call("Refuse"), [#"{"error":"org.example.test.Refused","parameters":{"because":"no"}}"#]),
    (call("Refuse", #","parameters":null"#), [#"{"error":"org.example.test.Refused","parameters":{"because":"no"}}"#]),
    (call("Refuse", #","oneway":true"#), []),
    (call("Drop"), [unserved("Drop")]),
    (call("Drop", #","oneway":true"#), []),
    (call("Missing"), [unserved("Missing")]),
    (call("Echo", #","upgrade":true"#), [unserved("Echo")]),
    (
      call("Nothing"),
      [#"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"org.example.test.Nothing"}}"#]
    ),
    (#"{"method":"org.example.no.Echo"}"#, [noInterface("org.example.no")]),
    (#"{"method":"Echo"}"#, [noInterface("Echo")]),
    (#"{"method":""}"#, [noInterface("")]),
    (#"{"method":"org.example.no.Echo","oneway":true}"#, []),
    (call("Echo"), [invalid("text")]),
    (call("Echo", #","parameters":{"text":5}"#), [invalid("text")]),
    (call("Echo", #","parameters":{"text":null}"#), [invalid("text")]),
    (call("Echo", #","parameters":[]"#), [invalid("parameters")]),
    (call("Refuse", #","parameters":[]"#), [invalid("parameters")]),
    (call("Echo", #","parameters":{"text":"","tags":[{"name":""},{}]}"#), [invalid("tags[1].name")]),
    (call("Count", #","parameters":{"to":1e999}"#), [invalid("to")]),
    (call("Count", #","parameters":{"to":2.5}"#), [invalid("to")]),
    (call("Count", #","parameters":{"to":9223372036854775808}"#), [invalid("to")]),
    (call("Echo", #","parameters":{"text":"","text":""}"#), [invalid("text")]),
    (call("Echo", #","parameters":{"text":"","new":[{"a":1}]}"#), [echoed("")]),
    (#"{"parameters":{"text":"first"},"method":"org.example.test.Echo"}"#, [echoed("first")]),
    (#"{"parameters":{"text":1},"m\u0065thod":"org.example.test.Echo"}"#, [invalid("text")]),
    (call("Count", #","parameters":{"to":2},"more":true"#), [numbered(1, #","continues":true"#), numbered(2)]),
    (call("Count", #","parameters":{"to":2}"#), [numbered(1)]),
    (call("Count", #","parameters":{"to":2},"more":true,"oneway":true"#), []),
  ]

  @Test(arguments: calls)
  func everyCallIsAnsweredAsTheProtocolSays(message: String, answers: [String]) throws {
    let stage = try Stage()
    let client = try stage.client()
    #expect(stage.ask(client, message) == answers)
    // The answers are all, and the connection is good for more.
    stage.later.forEach { $0.reply() }
    #expect(stage.ask(client, echo("again")) == [echoed("again")])
  }

  @Test func aCallMayComeInPieces() throws {
    let stage = try Stage()
    let client = try stage.client()
    for byte in Array((echo("slow") + "\0" + echo("typist")).utf8) {
      client.send([byte])
      stage.settle()
    }
    #expect(client.messages() == [echoed("slow")])
    client.send([0])
    stage.settle()
    #expect(client.messages() == [echoed("typist")])
  }

  @Test func pipelinedCallsWaitForTheOneBefore() throws {
    let stage = try Stage()
    let client = try stage.client()
    #expect(stage.ask(client, echo("1"), call("Later"), echo("2"), call("Later"), echo("3")) == [echoed("1")])
    #expect(stage.heard == ["1"])
    #expect(stage.later.count == 1)
    for answers in [["{\"parameters\":{}}", echoed("2")], ["{\"parameters\":{}}", echoed("3")]] {
      stage.later.removeFirst().reply()
      stage.settle()
      #expect(client.messages() == answers)
    }
  }

  @Test func theSecondOfTwoAnswersIsDropped() throws {
    let stage = try Stage()
    let client = try stage.client()
    _ = stage.ask(client, call("Later"))
    let held = try stage.takeLater()
    #expect(!held.isOver)
    held.fail(Refused(because: "first"))
    held.reply()
    #expect(held.isOver)
    stage.settle()
    #expect(client.messages() == [#"{"error":"org.example.test.Refused","parameters":{"because":"first"}}"#])
  }

  @Test func whoEndsSendingStillGetsAnswers() throws {
    let stage = try Stage()
    let client = try stage.client()
    client.send(echo("1"), call("Later"), echo("2"))
    client.endSending()
    stage.settle()
    #expect(client.messages() == [echoed("1")])
    stage.later.removeFirst().reply()
    stage.settle()
    #expect(client.messages() == [#"{"parameters":{}}"#, echoed("2")])
    #expect(client.isAtEnd)
  }

  @Test func whatWasSentBeforeClosingIsHeard() throws {
    let stage = try Stage()
    let client = try stage.client()
    client.send(echo("1"), echo("2"))
    client.close()
    stage.settle()
    #expect(stage.heard == ["1", "2"])
    #expect(stage.server.connectionCount == 0)
  }

  @Test func theServiceTellsWhatItIs() throws {
    let stage = try Stage()
    let client = try stage.client()
    let service = "org.varlink.service"
    let info = try #require(stage.ask(client, #"{"method":"\#(service).GetInfo"}"#).first)
    for part in [#""vendor":"Example""#, #""version":"1""#, #"["org.varlink.service","org.example.test"]"#] {
      #expect(info.contains(part))
    }
    for (interface, beginning) in [
      ("org.example.test", "# For tests."), (service, "# The interface that every Varlink service has."),
    ] {
      let question = #"{"method":"\#(service).GetInterfaceDescription","parameters":{"interface":"\#(interface)"}}"#
      #expect(stage.ask(client, question).first?.hasPrefix(#"{"parameters":{"description":"\#(beginning)"#) == true)
    }
    let unknown = #"{"method":"\#(service).GetInterfaceDescription","parameters":{"interface":"a.b"}}"#
    #expect(stage.ask(client, unknown) == [noInterface("a.b")])
  }

  @Test func theKernelTellsWhoCalls() throws {
    let stage = try Stage()
    let client = try stage.client()
    _ = stage.ask(client, call("Later"))
    let peer = try #require(stage.later.first?.peer)
    #expect(peer.uid == getuid() && peer.gid == getgid() && peer.pid == getpid())
    #expect(peer.isMember(of: getgid()))
  }
}

private func invalid(_ parameter: String) -> String {
  #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"\#(parameter)"}}"#
}

private func noInterface(_ name: String) -> String {
  #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"\#(name)"}}"#
}

private func unserved(_ method: String) -> String {
  #"{"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"org.example.test.\#(method)"}}"#
}

private func numbered(_ number: Int, _ flags: String = "") -> String {
  #"{"parameters":{"number":\#(number)}\#(flags)}"#
}
