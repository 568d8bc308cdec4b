import CSystemd
import Glibc
import PrivateBus
import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import Systemd

/// A unit is started on a connection of its own, so the list of units that was asked for before may lack it.
@Suite struct OldListTests {
  @Test func aTaskIsNotLostToAListThatWasAskedForBefore() throws {
    let stage = try UnitStage()
    try stage.until { stage.manager.lists.count == 1 }
    let task = try stage.start()
    try stage.until { stage.isRunning(task) }
    try stage.manager.answerList()
    try stage.until { stage.launcher.listing == nil }
    #expect(stage.isRunning(task))
  }

  @Test func aTaskIsLostToAListThatWasAskedForAfterItRan() throws {
    let stage = try UnitStage()
    try stage.until { stage.manager.lists.count == 1 }
    try stage.manager.answerList()
    let task = try stage.start()
    try stage.until { stage.isRunning(task) }
    try stage.manager.leave()
    try stage.manager.comeBack()
    try stage.until { stage.manager.lists.count == 1 }
    try stage.manager.answerList()
    try stage.until { stage.end != nil }
    let sentence = "cannot find out how /bin/true ended: the service manager has lost its unit"
    #expect(stage.end?.exit == .notStarted(sentence))
  }
}

/// The launcher, with a service manager of a test on a bus of its own.
private final class UnitStage {
  let loop: EventLoop
  let manager: SilentManager
  let launcher: SystemdLauncher
  var end: TaskEnd? { witness.end }
  private let witness = TaskWitness()
  private let server: PrivateBus
  private let directory: String

  init() throws {
    var template = Array("/tmp/units-XXXXXX".utf8CString)
    directory = String(cString: try #require(mkdtemp(&template)))
    (loop, server) = (try EventLoop(), try PrivateBus())
    try server.start()
    // A unit gets descriptors of its streams.
    let bus = try Bus(server.address, on: loop, takesDescriptors: true)
    manager = SilentManager(on: bus)
    try Self.run(loop) { bus.state == .connected }
    try manager.comeBack()
    let setup = SystemdLauncher.Setup(
      bus: server.address, isUserManager: false, units: UnitNames(stateDirectory: directory, isStandard: false),
      files: directory, cgroup: "/nowhere")
    launcher = try SystemdLauncher(on: loop, with: setup, for: witness)
  }

  deinit {
    for name in SmallFiles.names(in: directory) { unlink("\(directory)/\(name)") }
    rmdir(directory)
  }

  func start() throws -> ProcessKey {
    let launch = try launch(["/bin/true"])
    launcher.start(launch, before: nil)
    return launch.key
  }

  func isRunning(_ key: ProcessKey) -> Bool {
    if case .running = launcher.tasks[key]?.state { true } else { false }
  }

  func until(_ isSo: () -> Bool) throws { try Self.run(loop, until: isSo) }

  /// Runs the loop until something is so.
  private static func run(_ loop: EventLoop, until isSo: () -> Bool) throws {
    let end = EventLoop.bootMicroseconds() + 30_000_000
    while !isSo() {
      try #require(EventLoop.bootMicroseconds() < end, "it did not come about in time")
      try #require(sd_event_run(loop.event, 100_000) >= 0)
    }
  }
}

/// Keeps the end of a task.
private final class TaskWitness: ProcessOwner {
  private(set) var end: TaskEnd?

  func printed(_ line: String, by key: ProcessKey) {}

  func ended(_ key: ProcessKey, _ end: TaskEnd) { self.end = end }
}

/// A service manager that accepts each start, knows no unit, and lists its units only when a test says so.
private final class SilentManager {
  /// The calls for a list that wait for their answer.
  private(set) var lists: [OpaquePointer] = []
  private let bus: Bus
  private var calls: BusListener?

  init(on bus: Bus) {
    self.bus = bus
    calls = BusListener(on: bus) { connection, slot, callback, context in
      sd_bus_add_object(connection, &slot, ServiceManager.path, callback, context)
    } receive: { [unowned self] message in
      guard sd_bus_message_is_method_call(message, ServiceManager.manager, "ListUnitsByPatterns") > 0 else {
        return Self.reply(to: message)
      }
      if let call = sd_bus_message_ref(message) { lists.append(call) }
      return 1
    }
  }

  deinit { for list in lists { sd_bus_message_unref(list) } }

  /// Answers the oldest call for a list with an empty one.
  func answerList() throws {
    let call = lists.removeFirst()
    defer { sd_bus_message_unref(call) }
    try #require(Self.reply(to: call) >= 0)
  }

  /// Answers with nothing: for the launcher a success, and a list without units.
  private static func reply(to call: OpaquePointer) -> Int32 {
    var reply: OpaquePointer?
    defer { sd_bus_message_unref(reply) }
    guard sd_bus_message_new_method_return(call, &reply) >= 0 else { return -ENOMEM }
    return sd_bus_send(nil, reply, nil)
  }

  func comeBack() throws { try #require(sd_bus_request_name(bus.connection, ServiceManager.name, 0) >= 0) }

  func leave() throws { try #require(sd_bus_release_name(bus.connection, ServiceManager.name) >= 0) }
}
