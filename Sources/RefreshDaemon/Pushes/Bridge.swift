import RefreshAPI
import RefreshEngine
import Varlink

/// The push bridge, as its connections show it (FEATURES E4).
struct Bridge {
  typealias WatchCall = Call<PushInterface.Watch.Parameters>

  /// A connection that watches or has reported.
  private struct Client {
    /// When it came, boot clock.
    let since: Instant
    var watch: WatchCall?
    var sources: [Wire.Source] = []
  }

  private var clients: [ObjectIdentifier: Client] = [:]
  /// What those who watch were told last.
  var told: PushInterface.Watch.Reply?
  /// The word for the network that was in use last.
  var network = ""

  /// Whether there is none.
  var isAbsent: Bool { clients.isEmpty }

  /// The calls that are told whether they may connect.
  var watches: [WatchCall] { clients.values.compactMap(\.watch) }

  /// Takes up a call that watches.
  mutating func add(_ call: WatchCall, at now: Instant) {
    clients[ObjectIdentifier(call.connection), default: Client(since: now)].watch = call
  }

  /// Takes note of the sources that a connection tells, all of its own.
  mutating func note(_ sources: [Wire.Source], of connection: Connection, at now: Instant) {
    clients[ObjectIdentifier(connection), default: Client(since: now)].sources = sources
  }

  /// Forgets a connection that has ended.
  mutating func remove(_ connection: ObjectIdentifier) { clients[connection] = nil }

  /// Since when it is there, boot clock, and its sources; nil when it is not.
  var state: (since: Instant, sources: [Wire.Source])? {
    let clients = clients.values.sorted { $0.since < $1.since }
    return clients.first.map { ($0.since, clients.flatMap(\.sources)) }
  }
}

extension Daemon {
  /// Tells those who speak for the bridge whether they may connect, where that is news.
  func tellBridge() {
    guard !pushes.bridge.isAbsent else { return }
    let now = bridgeReply()
    guard now != pushes.bridge.told else { return }
    pushes.bridge.told = now
    for call in pushes.bridge.watches { call.reply(now, continues: true) }
  }

  /// Takes up a connection of the bridge until it ends.
  func keepBridge(_ connection: Connection) {
    let identifier = ObjectIdentifier(connection)
    connection.onDisconnect("bridge") { self.pushes.bridge.remove(identifier) }
  }

  /// Whether the bridge may connect, and by which network.
  func bridgeReply() -> PushInterface.Watch.Reply {
    // Who does not know for a moment has not another network for that.
    if let network = engine.conditions.network.value { pushes.bridge.network = network.word }
    return PushInterface.Watch.Reply(mayConnect: engine.mayBridge, network: pushes.bridge.network)
  }

  /// The bridge as status shows it; nil when there is none.
  var pushState: Wire.PushState? {
    pushes.bridge.state.map { since, sources in
      Wire.PushState(
        sinceMicroseconds: since.wallMicroseconds(at: engine.wallOffset), mayConnect: engine.mayBridge,
        sources: sources)
    }
  }
}

extension Network {
  /// A word for what carries the traffic: another one where connections do not go on.
  fileprivate var word: String {
    String(StableHash.of("\(interface)\n\(medium?.rawValue ?? "")\n\(ssid ?? "")"), radix: 16)
  }
}
