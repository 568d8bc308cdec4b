import Glibc
import Testing

@testable import Varlink

/// A server with a few methods, and its clients, all on the test's thread.
///
/// `org.example.test` has `Echo`, which repeats its parameter; `Later`, whose answer the test gives; `Count`, which counts
/// up to `to`; `Refuse`, which fails; `Drop`, which forgets its call; `Missing`, which is only described.
final class Stage {
  let server: Server
  let path: String
  /// The calls of `Later` that are not answered yet.
  var later: [LaterCall] = []
  /// The texts that `Echo` received.
  private(set) var heard: [String] = []
  private let directory: String
  private let reactor = PollReactor()

  init(_ bounds: Bounds = Bounds()) throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    var template = Array("\(parent)/varlink-XXXXXX".utf8CString)
    directory = try template.withUnsafeMutableBufferPointer { buffer in
      String(cString: try #require(buffer.baseAddress.flatMap { mkdtemp($0) }))
    }
    path = "\(directory)/socket"
    // The handlers need the stage, which is not there before its server.
    let box = Box()
    server = Server(
      ServiceInfo(vendor: "Example", product: "Test", version: "1", url: "https://test.example"),
      interfaces: [Stage.interface(box)], bounds: bounds, reactor: reactor)
    box.stage = self
    try server.listen(at: path, mode: 0o600)
  }

  deinit {
    server.close()
    rmdir(directory)
  }

  func client() throws -> RawClient { try RawClient(path: path) }

  /// So many clients, all let in.
  func clients(_ count: Int) throws -> [RawClient] {
    let clients = try (0..<count).map { _ in try client() }
    settle()
    return clients
  }

  /// Lets the server do all that it can do now.
  ///
  /// Everything is on one thread and in the kernel already, so there is nothing to wait for.
  func settle() {
    var turns = 0
    while reactor.turn() {
      turns += 1
      guard turns < 1_000_000 else {
        Issue.record("the server spins")
        return
      }
    }
  }

  /// The last call of `Later` that is not answered yet, now the test's own.
  func takeLater() throws -> LaterCall {
    let last = later.popLast()
    return try #require(last)
  }

  /// A turn of the loop.
  func turn() { _ = reactor.turn() }

  /// Sends messages and gives back what the server answers.
  func ask(_ client: RawClient, _ messages: String...) -> [String] {
    for message in messages { client.send(message) }
    settle()
    return client.messages()
  }

  private final class Box {
    weak var stage: Stage?
  }

  private static func interface(_ box: Box) -> Interface {
    var interface = Interface(TestInterface.self)
    interface.serve(TestInterface.Echo.self) { call in
      box.stage?.heard.append(call.parameters.text)
      call.reply(call.parameters)
    }
    interface.serve(TestInterface.Later.self) { box.stage?.later.append($0) }
    interface.serve(TestInterface.Count.self) { call in
      let last = call.parameters.to
      for number in 1...last { call.reply(Number(number: number), continues: number < last) }
    }
    interface.serve(TestInterface.Refuse.self) { $0.fail(Refused(because: "no")) }
    interface.serve(TestInterface.Drop.self) { _ in }
    return interface
  }
}

typealias Echo = TestInterface.Echo.Reply
typealias Number = TestInterface.Count.Reply
typealias Refused = TestInterface.Refused
typealias LaterCall = Call<TestInterface.Later.Parameters>

/// A call of `Echo` as text, and its answer.
func echo(_ text: String) -> String { #"{"method":"org.example.test.Echo","parameters":{"text":"\#(text)"}}"# }
func echoed(_ text: String) -> String { #"{"parameters":{"text":"\#(text)"}}"# }

/// A call without parameters.
func call(_ method: String, _ flags: String = "") -> String { #"{"method":"org.example.test.\#(method)"\#(flags)}"# }
