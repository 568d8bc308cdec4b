import RefreshAPI
import RefreshEngine
import Varlink

/// The connections of the push bridge.
final class BridgeConnection: DecisionObserver {
  typealias WatchCall = Call<PushInterface.Watch.Parameters>

  /// A connection that watches or has reported.
  private struct BridgeClient {
    /// When the connection came, boot clock.
    let since: Instant
    var watch: WatchCall?
    var sources: [Wire.Source] = []
  }

  private unowned let core: DaemonCore
  private var clients: [ObjectIdentifier: BridgeClient] = [:]
  /// The last reply to the watching connections.
  private var sent: PushInterface.Watch.Reply?
  /// The id of the last known network.
  private var network = ""

  init(_ core: DaemonCore) { self.core = core }

  /// Tells a connection whether it may connect to its sources, now and after each change.
  func watch(_ call: WatchCall) {
    keep(call.connection) { $0.watch = call }
    let now = reply()
    if now == sent { call.reply(now, continues: true) } else { send() }
  }

  /// Keeps the sources that a connection reports, in place of its earlier sources.
  func report(_ sources: [Wire.Source], by connection: Connection) {
    keep(connection) { $0.sources = sources }
  }

  func observe(_ decision: Decision, on event: Event, at now: Instant) { send() }

  /// The bridge for the status; nil if it is not connected.
  var state: Wire.PushState? {
    let clients = clients.values.sorted { $0.since < $1.since }
    return clients.first.map {
      Wire.PushState(
        sinceMicroseconds: core.wall($0.since), mayConnect: core.engine.mayBridge,
        sources: clients.flatMap(\.sources))
    }
  }

  private func keep(_ connection: Connection, _ change: (inout BridgeClient) -> Void) {
    let identifier = ObjectIdentifier(connection)
    // Reads the clocks before the clients: after a step of the clock the engine decides, which also reads the clients.
    let now = core.readClocks()
    change(&clients[identifier, default: BridgeClient(since: now)])
    connection.onDisconnect("bridge") { self.clients[identifier] = nil }
  }

  private func send() {
    guard !clients.isEmpty else { return }
    let now = reply()
    guard now != sent else { return }
    sent = now
    for call in clients.values.compactMap(\.watch) { call.reply(now, continues: true) }
  }

  private func reply() -> PushInterface.Watch.Reply {
    // An unknown network is no change.
    if let network = core.engine.conditions.network.value { self.network = network.identity }
    return PushInterface.Watch.Reply(mayConnect: core.engine.mayBridge, network: network)
  }
}

extension Network {
  /// An id that changes with the network, when connections break.
  fileprivate var identity: String {
    String(StableHash.of("\(interface)\n\(medium?.rawValue ?? "")\n\(ssid ?? "")"), radix: 16)
  }
}

// Bounds the bridge's report of a source before it is kept, because parts of it come from a server.

extension Wire.Source {
  /// The most sources of one connection: as many as `push.toml` may have, 64 of each kind.
  static let most = 64 * Wire.SourceKind.allCases.count
  /// The most bytes of a source's name, and of its problem.
  private static let longestName = 32
  private static let longestProblem = 512

  /// The source with every number within its bounds, and with the beginning of each text.
  var bounded: Wire.Source {
    Wire.Source(
      name: OutputLines.beginning(of: name, most: Self.longestName), kind: kind, isConnected: isConnected,
      sinceMicroseconds: ReportBounds.number(sinceMicroseconds),
      problem: problem.map { OutputLines.beginning(of: $0, most: Self.longestProblem) },
      retryMicroseconds: retryMicroseconds.map(ReportBounds.number), received: max(0, received),
      refused: max(0, refused))
  }
}
