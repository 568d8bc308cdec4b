import FoundationEssentials
import Glibc
import HTTP
import RefreshAPI
import Testing
import Varlink

@testable import refresh_push

/// A directory of a test's own, gone after it.
final class Scratch {
  let path: String

  init() throws {
    var template = Array("/var/tmp/refresh-push.XXXXXX".utf8CString)
    path = String(cString: try #require(mkdtemp(&template)))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// A source that a test moves.
@MainActor
final class ScriptedSource: Source {
  let name: String
  let kind = Wire.SourceKind.ntfy
  private(set) var connects = 0
  private(set) var disconnects = 0

  init(_ name: String = "home") { self.name = name }

  func connect() { connects += 1 }
  func disconnect() { disconnects += 1 }
}

/// In the place of the daemon: it answers what the test says.
@MainActor
final class ScriptedDaemon {
  private let reactor = PollReactor()
  private let path: String
  private var server: Server?
  private var watches: [Call<PushInterface.Watch.Parameters>] = []
  /// What it says of the network.
  var policy = PushInterface.Watch.Reply(mayConnect: true, network: "home") {
    didSet { for watch in watches { watch.reply(policy, continues: true) } }
  }
  /// All that was delivered and stored, in order.
  private(set) var stored: [Wire.Delivery] = []
  /// How many calls to deliver came.
  private(set) var calls = 0
  private(set) var reports: [[Wire.Source]] = []
  /// What is answered to a call; nil to say that nothing can be stored.
  var answer: ([Wire.Delivery]) -> [Wire.DeliveryResult]? = { $0.map { _ in Wire.DeliveryResult(fate: .queued) } }

  init(at path: String) { self.path = path }

  func start() throws {
    let server = Server(
      ServiceInfo(vendor: "test", product: "test", version: "1", url: "https://example.org"),
      interfaces: [interface], bounds: Bounds(), reactor: reactor)
    try server.listen(at: path, mode: 0o600)
    self.server = server
  }

  /// Ends it as a kill does: nothing is answered any more.
  func kill() {
    server?.close()
    server = nil
    watches = []
    unlink(path)
  }

  func turn() { while reactor.turn() {} }

  private var interface: Interface {
    var interface = Interface(PushInterface.self)
    interface.serve(PushInterface.Watch.self) { (call: Call<PushInterface.Watch.Parameters>) in
      MainActor.assumeIsolated {
        self.watches.append(call)
        call.reply(self.policy, continues: true)
      }
    }
    interface.serve(PushInterface.Report.self) { (call: Call<PushInterface.Report.Parameters>) in
      MainActor.assumeIsolated {
        self.reports.append(call.parameters.sources)
        call.reply(PushInterface.Report.Reply())
      }
    }
    interface.serve(PushInterface.Deliver.self) { (call: Call<PushInterface.Deliver.Parameters>) in
      MainActor.assumeIsolated {
        self.calls += 1
        let deliveries = call.parameters.deliveries
        guard let results = self.answer(deliveries) else {
          return call.fail(RefreshdInterface.NotStored(problem: "the disk is full"))
        }
        self.stored += deliveries
        call.reply(PushInterface.Deliver.Reply(results: results))
      }
    }
    return interface
  }
}

/// A bridge and a daemon that take turns.
@MainActor
final class Stage {
  let scratch: Scratch
  let daemon: ScriptedDaemon
  let memory: Memory
  let bridge: Bridge

  init(_ sources: [any Source] = []) throws {
    scratch = try Scratch()
    let socket = "\(scratch.path)/socket"
    daemon = ScriptedDaemon(at: socket)
    memory = try Memory(in: "\(scratch.path)/state")
    bridge = try Bridge(
      SocketPath(path: socket, daemon: .named), memory: memory, secrets: Secrets(isOfMachine: false, credentials: nil),
      loop: try ExchangeLoop())
    bridge.replace(by: sources)
  }

  /// Has both go on until the condition holds; fails after 10 s.
  func turn(_ what: Comment? = nil, until condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
      try #require(.now < end, what)
      _ = bridge.turn(watching: [], until: .now + .milliseconds(2))
      daemon.turn()
    }
  }

  /// Has both do all that they do without anything new.
  func settle() {
    for _ in 0..<20 {
      _ = bridge.turn(watching: [], until: .now)
      daemon.turn()
    }
  }
}
