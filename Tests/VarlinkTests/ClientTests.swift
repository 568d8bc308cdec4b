import CLinux
import Glibc
import Testing

@testable import Varlink

/// The client against a peer whose answers are there before it asks, so that it never waits.
struct ClientTests {
  /// A client and the other end of its connection.
  private struct Pair {
    let client: Client
    let peer: RawClient

    init(answers: String..., staysOpen: Bool = false) throws {
      let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
      let path = "\(parent)/varlink-client-\(getpid())-\(UInt32.random(in: 0 ... .max))"
      let listener = try UnixSocket.listen(at: path, mode: 0o600)
      defer {
        close(listener)
        unlink(path)
      }
      client = try Client(path: path)
      peer = RawClient(descriptor: linux_accept4(listener))
      for answer in answers { peer.send(answer) }
      if !staysOpen { peer.endSending() }
    }

    /// Calls `Echo`, whatever the answers are.
    func ask() throws(ClientError) -> Echo {
      try client.call(TestInterface.Echo.self, .init(text: "there", tags: nil))
    }
  }

  @Test func aCallGoesOutAndItsAnswerComesBack() throws {
    let pair = try Pair(answers: echoed("back"))
    #expect(try pair.ask().text == "back")
    let sent = try #require(pair.peer.messages().first)
    #expect(sent.contains(#""method":"org.example.test.Echo""#))
    #expect(sent.contains(#""parameters":{"text":"there"}"#))
    #expect(!sent.contains("more"))
  }

  @Test func whoWantsNoAnswerSaysSo() throws {
    let pair = try Pair()
    try pair.client.send(TestInterface.Echo.self, .init(text: "there", tags: nil))
    let sent = try #require(pair.peer.messages().first)
    #expect(sent.contains(#""oneway":true"#))
  }

  @Test(arguments: ["{}", #"{"parameters":null}"#, #"{"parameters":{}}"#, #"{"parameters":{"new":1}}"#])
  func absentParametersAreNone(answer: String) throws {
    let pair = try Pair(answers: answer)
    #expect(try pair.client.call(TestInterface.Later.self, .init()) == TestInterface.Later.Reply())
  }

  @Test func callsFollowEachOther() throws {
    let pair = try Pair(answers: echoed("1"), echoed("2"))
    for text in ["1", "2"] {
      #expect(try pair.ask().text == text)
    }
  }

  @Test func aStreamEndsWithItsLastAnswer() throws {
    let pair = try Pair(
      answers: #"{"parameters":{"number":1},"continues":true}"#, #"{"parameters":{"number":2}}"#, echoed("next"))
    var numbers: [Int] = []
    try pair.client.stream(TestInterface.Count.self, .init(to: 2)) {
      numbers.append($0.number)
      return true
    }
    #expect(numbers == [1, 2])
    #expect(pair.peer.messages().first?.contains(#""more":true"#) == true)
    #expect(try pair.ask().text == "next")
  }

  @Test func aStreamEndsWhenTheCallerHasEnough() throws {
    let pair = try Pair(answers: #"{"parameters":{"number":1},"continues":true}"#)
    var numbers: [Int] = []
    try pair.client.stream(TestInterface.Count.self, .init(to: 2)) {
      numbers.append($0.number)
      return false
    }
    #expect(numbers == [1])
  }

  @Test func whoDoesNotWaitTakesWhatHasCome() throws {
    let pair = try Pair()
    try pair.client.begin(TestInterface.Count.self, .init(to: 2), more: true)
    #expect(pair.peer.messages().first?.contains(#""more":true"#) == true)
    // The peer has ended, so there is an end instead of nothing.
    #expect(throws: ClientError.self) { try pair.client.nextAnswer(of: TestInterface.Count.self) }

    let open = try Pair(answers: #"{"parameters":{"number":1},"continues":true}"#, staysOpen: true)
    try open.client.begin(TestInterface.Count.self, .init(to: 2), more: true)
    let first = try #require(try open.client.nextAnswer(of: TestInterface.Count.self))
    #expect(first.parameters.number == 1 && first.continues)
    #expect(try open.client.nextAnswer(of: TestInterface.Count.self) == nil)
    open.peer.send(#"{"parameters":{"number":2}}"#)
    let second = try #require(try open.client.nextAnswer(of: TestInterface.Count.self))
    #expect(second.parameters.number == 2 && !second.continues)
  }

  @Test func anAnswerThatCannotBeReadHidesNoOther() throws {
    let pair = try Pair(
      answers: #"{"parameters":{"number":"one"},"continues":true}"#, #"{"parameters":{"number":2},"continues":true}"#)
    try pair.client.begin(TestInterface.Count.self, .init(to: 2), more: true)
    #expect(throws: ClientError.self) { try pair.client.nextAnswer(of: TestInterface.Count.self) }
    #expect(try pair.client.nextAnswer(of: TestInterface.Count.self)?.parameters.number == 2)
  }

  @Test func aDeclaredErrorComesWithItsParameters() throws {
    let pair = try Pair(answers: #"{"error":"org.example.test.Refused","parameters":{"because":"no"}}"#)
    let error = #expect(throws: ClientError.self) {
      try pair.ask()
    }
    guard case .failed(let reply) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reply.name == "org.example.test.Refused")
    #expect(try reply.parameters(as: Refused.self) == Refused(because: "no"))
    #expect(throws: ClientError.self) { try reply.parameters(as: Number.self) }
  }

  @Test func anErrorWithoutParametersFitsATypeWithoutAny() throws {
    let pair = try Pair(answers: #"{"error":"org.varlink.service.ExpectedMore"}"#)
    let error = #expect(throws: ClientError.self) {
      try pair.ask()
    }
    guard case .failed(let reply) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try reply.parameters(as: ExpectedMore.self) == ExpectedMore())
  }

  @Test(arguments: ["{", "[]", "5", #"{"parameters":{"text":5}}"#, #"{"parameters":{}}"#, #"{"parameters":[]}"#])
  func anAnswerThatDoesNotFitIsMalformed(answer: String) throws {
    let pair = try Pair(answers: answer)
    let error = #expect(throws: ClientError.self) {
      try pair.ask()
    }
    guard case .malformed = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func theEndBeforeTheAnswerIsToldApart() throws {
    let pair = try Pair()
    let error = #expect(throws: ClientError.self) {
      try pair.ask()
    }
    guard case .disconnected = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  @Test func whoDoesNotListenIsToldApart() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    let path = "\(parent)/varlink-nobody-\(getpid())"
    #expect(whyNot(path) == SocketError("cannot connect to \(path)", errno: ENOENT))
    // A socket that its service has left behind.
    close(try UnixSocket.listen(at: path, mode: 0o600))
    #expect(whyNot(path) == SocketError("cannot connect to \(path)", errno: ECONNREFUSED))
    // It is in nobody's way.
    close(try UnixSocket.listen(at: path, mode: 0o600))
    unlink(path)
    #expect(whyNot(String(repeating: "x", count: 200))?.code == ENAMETOOLONG)
  }

  /// Why a client cannot connect there; nil if it can.
  private func whyNot(_ path: String) -> SocketError? {
    do throws(ClientError) {
      _ = try Client(path: path)
      return nil
    } catch {
      if case .unreachable(let reason) = error { return reason }
      return nil
    }
  }

  @Test func aSocketInUseIsNotTaken() throws {
    let stage = try Stage()
    let error = #expect(throws: SocketError.self) { try UnixSocket.listen(at: stage.path, mode: 0o600) }
    #expect(error?.code == EADDRINUSE)
    #expect(stage.ask(try stage.client(), echo("on")) == [echoed("on")])
  }
}
