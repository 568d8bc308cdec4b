import FoundationEssentials
import Glibc
import HTTP
import RefreshAPI
import Testing
import Varlink

@testable import refresh_push

/// A directory for a single test, removed afterwards.
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

/// A source that a test controls.
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

/// A stand-in for the daemon with answers from the test.
@MainActor
final class ScriptedDaemon {
  private let reactor = PollReactor()
  private let path: String
  private var server: Server?
  private var watches: [Call<PushInterface.Watch.Parameters>] = []
  /// The permission to use the network that the daemon sends.
  var permission = PushInterface.Watch.Reply(mayConnect: true, network: "home") {
    didSet { for watch in watches { watch.reply(permission, continues: true) } }
  }
  /// The stored deliveries, in order.
  private(set) var stored: [Wire.Delivery] = []
  /// The number of calls of Deliver.
  private(set) var calls = 0
  private(set) var reports: [[Wire.Source]] = []
  /// The answer to a delivery; nil if the daemon can store nothing.
  var answer: ([Wire.Delivery]) -> [Wire.DeliveryResult]? = { $0.map { _ in Wire.DeliveryResult(fate: .queued) } }

  init(at path: String) { self.path = path }

  func start() throws {
    let server = Server(
      ServiceInfo(vendor: "test", product: "test", version: "1", url: "https://example.org"),
      interfaces: [interface], bounds: Bounds(), reactor: reactor)
    try server.listen(at: path, mode: 0o600)
    self.server = server
  }

  /// Ends the daemon like a kill: it answers no more calls.
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
        call.reply(self.permission, continues: true)
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

/// A bridge and a daemon that run in turns.
@MainActor
final class Stage {
  let scratch: Scratch
  let daemon: ScriptedDaemon
  let state: BridgeState
  let bridge: Bridge

  init(_ sources: [any Source] = []) throws {
    scratch = try Scratch()
    let socket = "\(scratch.path)/socket"
    daemon = ScriptedDaemon(at: socket)
    state = try BridgeState(in: "\(scratch.path)/state")
    bridge = try Bridge(
      SocketPath(path: socket, daemon: .named), state: state, secrets: Secrets(isOfMachine: false, credentials: nil),
      loop: try ExchangeLoop())
    bridge.replace(by: sources)
  }

  /// Runs both until the condition holds; fails after 10 s.
  func turn(_ what: Comment? = nil, until condition: () -> Bool) throws {
    let end = ContinuousClock.now + .seconds(10)
    while !condition() {
      try #require(.now < end, what)
      _ = bridge.turn(watching: [], until: .now + .milliseconds(2))
      daemon.turn()
    }
  }

  /// Runs both until nothing is left to do.
  func settle() {
    for _ in 0..<20 {
      _ = bridge.turn(watching: [], until: .now)
      daemon.turn()
    }
  }
}
