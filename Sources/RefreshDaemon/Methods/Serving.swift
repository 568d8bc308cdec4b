import JSON
import RefreshAPI
import RefreshConfig
import RefreshEngine
import RefreshStore
import Systemd
import Varlink

// The socket's interfaces: the method for each call, and the apps that a caller may ask about.

extension Daemon {
  /// Serves the interfaces on the service manager's sockets, or on the path.
  func serve(on passed: [PassedDescriptor], _ reactor: any Reactor) throws {
    let service = ServiceInfo(
      vendor: "refreshd", product: "refreshd", version: refreshdVersion, url: "")
    let server = Server(
      service,
      interfaces: [
        appInterface, managerInterface, pushInterface, transfersInterface, sessionInterface, workerInterface,
        // It has no methods: clients read the parameters of the shared errors there.
        Interface(RefreshdInterface.self),
      ],
      bounds: bounds, reactor: reactor,
      tooManyWatches: RefreshdInterface.TooManyWatches(
        limit: bounds.watchesPerUser, remedy: "Close a connection that watches, or watch more with one."))
    let origin = CallerOrigin(readsRoots: ports.settings.isUserDaemon, processes: ports.processes)
    server.confine = { $0.hasEnded ? origin.confinement(ofEnded: $0) : origin.confinement(of: $0) }
    // A list of a thousand apps takes a megabyte of small blocks, which an idle daemon would keep.
    server.afterLongReply = HeapMemory.trim
    server.afterCrowd = HeapMemory.trim
    life.server = server
    for listener in passed { try server.listen(on: listener.descriptor) }
    guard passed.isEmpty else { return }
    let settings = ports.settings
    try Directory(path: settings.socketDirectory, purpose: "directory of the socket", option: "--socket PATH")
      .make(mode: settings.isUserDaemon ? 0o700 : 0o755)
    // Everyone may connect to the system's daemon: the rights are checked for each call.
    try server.listen(at: settings.socket, mode: settings.isUserDaemon ? 0o600 : 0o666)
  }

  /// A method for people and their tools: a task, a sandboxed app and nobody may not call it, even about its own app.
  func forPeople<Parameters>(
    _ handler: @escaping (Call<Parameters>) -> Void
  ) -> (Call<Parameters>) -> Void {
    { call in
      guard call.peer.confinement == .none else {
        return call.fail(RefreshdInterface.NotAllowed(remedy: self.core.access.remedyForPeople(call.peer)))
      }
      handler(call)
    }
  }

  private var managerInterface: Interface {
    var interface = Interface(ManagerInterface.self)
    serveLists(&interface)
    serveHistory(&interface)
    serveSwitches(&interface)
    serveRuns(&interface)
    serveStatus(&interface)
    return interface
  }

  /// The server's bounds: each lease is a connection, and one user may have hundreds of apps.
  ///
  /// A message may be twice as long as the longest payloads of the most pushes in a call, because JSON within JSON is
  /// escaped.
  ///
  /// There is always room for root, for the daemon's user and for the push bridge.
  private var bounds: Bounds {
    var bounds = Bounds()
    bounds.privileged.formUnion([core.access.uid] + (core.access.bridge.map { [$0] } ?? []))
    bounds.connections = 4096
    bounds.connectionsPerUser = 1024
    bounds.reservedConnections = 256
    bounds.bytesPerUser = 8 << 20
    bounds.bytes = 12 << 20
    bounds.messageBytes = 4 << 20
    return bounds
  }

  /// Whether the caller may ask about the daemon itself; answers the call otherwise.
  func mayAll<Parameters>(_ call: Call<Parameters>) -> Bool {
    let isAllowed = core.access.mayAll(call.peer)
    if !isAllowed { call.fail(RefreshdInterface.NotAllowed(remedy: core.access.remedy)) }
    return isAllowed
  }

  /// The apps that a caller may ask about, in the order of their ids.
  func apps(for peer: Peer) -> [AppConfiguration] {
    core.configuration.apps.filter { core.access.may(peer, about: $0) }
  }

  /// Whether there are apps that a caller may not ask about: true or nil; always nil for a task, a sandboxed app and the
  /// bridge.
  func hasAppsOfOthers(than apps: Int, for peer: Peer) -> Bool? {
    core.access.maySeeOwn(peer) && apps < core.configuration.apps.count ? true : nil
  }

  /// The app of a call, if the caller may ask about it; answers the call otherwise.
  ///
  /// A caller without the right does not learn which apps exist.
  func app<Parameters>(named name: String, for call: Call<Parameters>) -> AppConfiguration? {
    let app = AppID(name).flatMap { core.configuration[$0] }
    if let app, core.access.may(call.peer, about: app) { return app }
    if app == nil, core.access.mayAll(call.peer) {
      call.fail(RefreshdInterface.NoSuchApp(app: name))
    } else {
      call.fail(core.access.refusal(of: call.peer, app: name))
    }
    return nil
  }

  /// The app of a call, if the caller may ask about it and it is no guard; answers the call otherwise.
  func refreshedApp<Parameters>(named name: String, for call: Call<Parameters>) -> AppConfiguration? {
    guard let app = app(named: name, for: call) else { return nil }
    guard let unit = app.policy.guarded else { return app }
    call.fail(RefreshdInterface.IsGuard(app: app.id.description, unit: unit.name))
    return nil
  }

  /// Handles events, and answers when their changes are on the disk; takes back changes that cannot be stored.
  func change<Parameters>(
    _ events: [Event], for call: Call<Parameters>, reply: @escaping () -> some JSONWritable
  ) {
    handleDurably(events) { problem in call.conclude(problem, reply) }
  }

  /// Handles events, and answers with the rows of apps when the changes are on the disk, in the caller's own turns.
  ///
  /// Calls `then` when the changes are on the disk, also if nobody receives the answer.
  func change<Parameters, Reply: JSONWritable>(
    _ events: [Event], of apps: [AppConfiguration], for call: Call<Parameters>, then: @escaping () -> Void = {},
    reply: @escaping ([Wire.App]) -> Reply
  ) {
    handleDurably(events) { problem in
      if let problem { return call.fail(RefreshdInterface.NotStored(problem: problem.description)) }
      then()
      if call.isUnheard { return call.drop() }
      self.rows(of: apps, for: call) { call.reply(reply($0)) }
    }
  }

  /// The instant of a wall time; nil before 1970 or more than ten years from now.
  func instant(ofWallMicroseconds microseconds: Int64) -> Instant? {
    let now = core.readClocks()
    let latest = (now + Duration.longest).wallMicroseconds(at: core.engine.wallOffset)
    guard (0...max(0, latest)).contains(microseconds) else { return nil }
    return Instant(microseconds: microseconds) - core.engine.wallOffset
  }
}

extension Call {
  /// Gives the last answer to a call: the reply if its change is on the disk, else the error.
  func conclude(_ problem: StoreError?, _ reply: () -> some JSONWritable) {
    if let problem { return fail(RefreshdInterface.NotStored(problem: problem.description)) }
    if isUnheard { drop() } else { self.reply(reply()) }
  }
}

// Lists in calls: the server bounds their lengths (``IncomingCall``), and each value counts once.

extension Daemon {
  /// The apps of a call, if the caller may ask about each; answers the call otherwise.
  func apps<Parameters>(named names: [String], for call: Call<Parameters>) -> [AppConfiguration]? {
    apps(named: names, for: call) { self.app(named: $0, for: call) }
  }

  /// The apps of a call, if the caller may ask about each and none is a guard; answers the call otherwise.
  func refreshedApps<Parameters>(named names: [String], for call: Call<Parameters>) -> [AppConfiguration]? {
    apps(named: names, for: call) { refreshedApp(named: $0, for: call) }
  }

  private func apps<Parameters>(
    named names: [String], for call: Call<Parameters>, _ lookUp: (String) -> AppConfiguration?
  ) -> [AppConfiguration]? {
    guard !names.isEmpty else {
      call.fail(InvalidParameter(parameter: "apps"))
      return nil
    }
    var apps: [AppConfiguration] = []
    for name in names.withoutDuplicates {
      guard let app = lookUp(name) else { return nil }
      apps.append(app)
    }
    return apps
  }
}

extension Array where Element: Hashable {
  /// The values in order, each once.
  var withoutDuplicates: [Element] {
    var seen: Set<Element> = []
    return filter { seen.insert($0).inserted }
  }
}
