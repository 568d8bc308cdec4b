import RefreshAPI
import RefreshConfig
import RefreshEngine
import Systemd
import Varlink

// The socket's interfaces: which method of the daemon serves which call, and whose apps a call may be about.

extension Daemon {
  /// Serves the interfaces, on what the service manager handed over or on the path.
  func serve(on passed: [PassedDescriptor], _ reactor: any Reactor) throws {
    let service = ServiceInfo(
      vendor: "refreshd", product: "refreshd", version: refreshdVersion, url: "https://refreshd.example")
    let server = Server(
      service, interfaces: [appInterface, managerInterface, pushInterface, transfersInterface, workerInterface],
      bounds: Self.bounds, reactor: reactor)
    life.server = server
    for listener in passed { try server.listen(on: listener.descriptor) }
    guard passed.isEmpty else { return }
    try Directory(path: settings.socketDirectory, purpose: "directory of the socket", option: "--socket PATH")
      .make(mode: 0o755)
    // Everyone may connect: who may ask what is decided for each call.
    try server.listen(at: settings.socket, mode: 0o666)
  }

  private var appInterface: Interface {
    var interface = Interface(AppInterface.name, description: AppInterface.description)
    interface.method("Signal") { self.signal($0) }
    interface.method("Attach") { self.attach($0) }
    interface.method("Complete") { self.complete($0) }
    interface.method("Push") { self.push($0) }
    return interface
  }

  private var pushInterface: Interface {
    var interface = Interface(PushInterface.name, description: PushInterface.description)
    interface.method("Deliver") { self.deliver($0) }
    interface.method("Report") { self.reportSources($0) }
    interface.method("Watch") { self.watchBridge($0) }
    return interface
  }

  private var managerInterface: Interface {
    var interface = Interface(ManagerInterface.name, description: ManagerInterface.description)
    interface.method("List") { self.list($0) }
    interface.method("Show") { self.show($0) }
    interface.method("Status") { self.status($0) }
    interface.method("Why") { self.why($0) }
    interface.method("Run") { self.run($0) }
    interface.method("Set") { self.set($0) }
    interface.method("Reset") { self.reset($0) }
    interface.method("Disable") { self.disable($0) }
    interface.method("Enable") { self.enable($0) }
    interface.method("Usage") { self.usage($0) }
    interface.method("Openings") { self.openings($0) }
    interface.method("Forget") { self.forget($0) }
    interface.method("Skip") { self.skip($0) }
    interface.method("Pause") { self.pause($0) }
    interface.method("Resume") { self.resume($0) }
    interface.method("Schedule") { self.schedule($0) }
    interface.method("History") { self.history($0) }
    interface.method("Forecast") { self.forecast($0) }
    interface.method("Timeline") { self.timeline($0) }
    interface.method("Metrics") { self.metrics($0) }
    interface.method("Watch") { self.watch($0) }
    interface.method("Check") { self.check($0) }
    interface.method("Reload") { self.reload($0) }
    interface.method("Version") { self.version($0) }
    return interface
  }

  private var transfersInterface: Interface {
    var interface = Interface(TransfersInterface.name, description: TransfersInterface.description)
    interface.method("Enqueue") { self.enqueue($0) }
    interface.method("List") { self.listTransfers($0) }
    interface.method("Watch") { self.watchTransfers($0) }
    interface.method("Pause") { self.pauseTransfers($0) }
    interface.method("Resume") { self.resumeTransfers($0) }
    interface.method("Cancel") { self.cancelTransfers($0) }
    interface.method("SetPriority") { self.setPriority($0) }
    interface.method("Rejoin") { self.rejoin($0) }
    return interface
  }

  private var workerInterface: Interface {
    var interface = Interface(WorkerInterface.name, description: WorkerInterface.description)
    interface.method("Remember") { self.remember($0) }
    interface.method("Work") { self.work($0) }
    interface.method("Report") { self.report($0) }
    return interface
  }

  /// What clients may take up: a lease is a connection, and one user may have hundreds of apps.
  ///
  /// A message may have the bytes of as many pushes as one call may hand in, each as long as it may be, and twice that,
  /// because JSON within JSON is escaped.
  private static var bounds: Bounds {
    var bounds = Bounds()
    bounds.connections = 4096
    bounds.connectionsPerUser = 1024
    bounds.messageBytes = 4 << 20
    return bounds
  }

  /// The app that a call is about, if the caller may ask about it; else the call is answered.
  func app<Parameters>(named name: String, for call: Call<Parameters>) -> AppConfiguration? {
    guard let app = AppID(name).flatMap({ core.configuration[$0] }) else {
      call.fail(ManagerInterface.NoSuchApp(app: name))
      return nil
    }
    guard core.access.may(call.peer, about: app) else {
      call.fail(ManagerInterface.NotAllowed(app: name, remedy: core.access.remedy(for: app)))
      return nil
    }
    return app
  }

  /// The apps that a call is about, if the caller may ask about each; else the call is answered.
  func apps<Parameters>(named names: [String], for call: Call<Parameters>) -> [AppConfiguration]? {
    guard !names.isEmpty else {
      call.fail(InvalidParameter(parameter: "apps"))
      return nil
    }
    var apps: [AppConfiguration] = []
    for name in names {
      guard let app = app(named: name, for: call) else { return nil }
      apps.append(app)
    }
    return apps
  }
}

extension AppInterface.NoSuchApp: VarlinkError {}
extension AppInterface.NotAllowed: VarlinkError {}
extension AppInterface.NotLeasable: VarlinkError {}
extension AppInterface.NoSuchToken: VarlinkError {}
extension AppInterface.AlreadyCompleted: VarlinkError {}
extension AppInterface.NotStored: VarlinkError {}
extension AppInterface.InvalidPayload: VarlinkError {}
extension PushInterface.NotAllowed: VarlinkError {}
extension PushInterface.NotStored: VarlinkError {}
extension ManagerInterface.NoSuchApp: VarlinkError {}
extension ManagerInterface.NotAllowed: VarlinkError {}
extension ManagerInterface.Held: VarlinkError {}
extension ManagerInterface.InvalidInterval: VarlinkError {}
extension ManagerInterface.BadConfiguration: VarlinkError {}
extension ManagerInterface.NotStored: VarlinkError {}
extension ManagerInterface.NotReadable: VarlinkError {}
extension TransfersInterface.NoSuchApp: VarlinkError {}
extension TransfersInterface.NoSuchTransfer: VarlinkError {}
extension TransfersInterface.NotAllowed: VarlinkError {}
extension TransfersInterface.InvalidRequest: VarlinkError {}
extension TransfersInterface.SessionTaken: VarlinkError {}
extension TransfersInterface.NotStored: VarlinkError {}
extension TransfersInterface.QueueFull: VarlinkError {}
extension TransfersInterface.AlreadyEnded: VarlinkError {}
extension WorkerInterface.NoSuchToken: VarlinkError {}
extension WorkerInterface.NotStored: VarlinkError {}
