import Glibc
import RefreshEngine
import Systemd

// Starting a task: its file, its streams, its unit.

extension SystemdLauncher {
  /// How long after the last moment at which the daemon itself would have ended a task the manager ends it, in
  /// microseconds: it is there for a daemon that is not.
  private static let margin: Int64 = 1_000_000
  /// How long the manager may take to answer, in microseconds: sd-bus(3)'s own limit.
  static let patience: Int64 = 25_000_000
  /// How long its program may take to be loaded, in microseconds, if it may run as long: systemd's own limit
  /// (`DefaultTimeoutStartSec=`, systemd-system.conf(5)).
  private static let longestStart: Int64 = 90_000_000

  /// Starts a task, or has it wait for the bus.
  func run(_ task: SystemdTask) {
    task.state = .awaitingBus
    guard bus.state == .connected, let launch = task.launch else { return }
    task.call = calls.add { [unowned self, unowned task] in
      begin(task, launch, tell: $0)
    } answer: { [unowned self, unowned task] answer in
      guard case .starting = task.state else { return }
      switch answer {
      case .success:
        task.isReferenced = true
        task.state = .running
      case .failure(let error): startFailed(task, error)
      }
    }
  }

  private func begin(
    _ task: SystemdTask, _ launch: TaskLaunch, tell: @escaping (BusCall.Answer) -> Void
  ) -> BusCall? {
    do throws(StartError) {
      do throws(SystemCallError) {
        try task.file.write(launch.environment, before: task.before)
      } catch {
        throw StartError(sentence: "cannot start \(task.program): \(error)")
      }
      let pipe = try TaskStreams.lastingOutput(at: task.file.output, for: task.program)
      defer { close(pipe.writer) }
      try listen(to: pipe.reader, of: task)
      keepOutput(pipe.reader, of: task)
      let input = try launch.input.map { (bytes) throws(StartError) in
        try TaskStreams.input(bytes, for: task.program)
      }
      defer { if let input { close(input) } }
      let properties = properties(of: task, launch, output: pipe.writer, input: input)
      task.known = UnitState()
      task.state = .starting
      return bus.call(ServiceManager.start(task.unit, properties), timeout: Self.patience, handler: tell)
    } catch {
      fail(task, error.sentence)
      return nil
    }
  }

  /// Reads what a task prints.
  func listen(to reader: Int32, of task: SystemdTask) throws(StartError) {
    let key = task.key
    do throws(SystemdError) {
      task.output = try TaskOutput(
        reader, on: loop, onFirst: { [unowned self, unowned task] in notePrinted(task) },
        onLine: { [unowned self] line in onOutput(key, line) })
    } catch {
      throw StartError(sentence: "cannot start \(task.program): \(error)")
    }
  }

  private func notePrinted(_ task: SystemdTask) {
    guard !task.hadPrinted else { return }
    task.hadPrinted = true
    do throws(SystemCallError) {
      try task.file.notePrinted()
    } catch {
      // Only a daemon that comes after this one would have needed it.
      return
    }
  }

  /// Has the daemon's own manager keep the reading end, and with it what is in the pipe, also when the task has ended.
  private func keepOutput(_ reader: Int32, of task: SystemdTask) {
    do throws(SystemdError) {
      try Notify.store(reader, name: task.outputName)
    } catch {
      // The task's output is lost if the daemon is; the task itself is not.
      return
    }
  }

  private func startFailed(_ task: SystemdTask, _ error: BusError) {
    guard !error.isWithoutAnswer, !error.isNobodyThere else {
      // It may have been started all the same: the list of units will say, also that of a manager that is to come back.
      task.state = .awaitingBus
      return takeInventory()
    }
    fail(task, "cannot start \(task.program): the service manager refuses: \(error)")
  }

  private func properties(
    of task: SystemdTask, _ launch: TaskLaunch, output: Int32, input: Int32?
  ) -> [UnitProperty] {
    let command = launch.command
    let bound = (launch.timeLimit + launch.grace).inMicroseconds + Self.margin
    var properties = [
      // In the unit's file it is one line.
      UnitProperty("Description", .string(String(launch.description.map { $0.isNewline ? " " : $0 }))),
      UnitProperty("Slice", .string(UnitNames.slice(of: launch.app))),
      // When the machine is switched off, the daemon goes first: it asks its tasks to end, and writes down why they did.
      UnitProperty("Before", .strings(["refreshd.service"])),
      // We hear of its changes, and it stays in memory as long as we are there.
      UnitProperty("AddRef", .boolean(true)),
      UnitProperty("Type", .string("exec")),
      UnitProperty("RemainAfterExit", .boolean(true)),
      // A program expects that SIGPIPE ends it.
      UnitProperty("IgnoreSIGPIPE", .boolean(false)),
      UnitProperty("KillMode", .string("control-group")),
      // What runs out of memory is one task, and has not done its work: what is left of it ends too.
      UnitProperty("OOMPolicy", .string("stop")),
      UnitProperty("RuntimeMaxUSec", .uint64(UInt64(max(1, bound)))),
      // Its time begins when the program is loaded, which takes for ever from a server that does not answer.
      UnitProperty("TimeoutStartUSec", .uint64(UInt64(max(1, min(bound, Self.longestStart))))),
      // Zero would be no bound at all.
      UnitProperty("TimeoutStopUSec", .uint64(UInt64(max(1, launch.grace.inMicroseconds)))),
      UnitProperty(
        "SuccessExitStatus",
        .structure([.array(of: "i", launch.goodExits.map { .int32($0) }), .array(of: "i", [])])),
      UnitProperty("WorkingDirectory", .string(task.directory)),
      UnitProperty("SyslogIdentifier", .string(launch.app.description)),
      UnitProperty("EnvironmentFiles", .array(of: "(sb)", [.structure([.string(task.file.path), .boolean(false)])])),
      UnitProperty("StandardOutputFileDescriptor", .descriptor(output)),
      UnitProperty("StandardErrorFileDescriptor", .descriptor(output)),
      UnitProperty(
        "ExecStart",
        .array(
          of: "(sasb)",
          [.structure([.string(task.program), .strings(command.arguments.map(Self.escaped)), .boolean(false)])])),
    ]
    properties += ["CPUAccounting", "MemoryAccounting", "IOAccounting", "IPAccounting"].map {
      UnitProperty($0, .boolean(true))
    }
    if let input { properties.append(UnitProperty("StandardInputFileDescriptor", .descriptor(input))) }
    if !place.isUserManager {
      properties.append(UnitProperty("User", .string(launch.owner.name)))
      properties.append(UnitProperty("Group", .string(String(command.group ?? launch.owner.gid))))
    }
    return properties + launch.properties
  }

  /// An argument as it comes out of what the manager does to it: it puts in variables of the environment, for a `$` of
  /// which there are not two (systemd.service(5), "Command Lines").
  ///
  /// There is a property without that, `ExecStartEx`; but the unit is broken after a `daemon-reload` (seen in 252).
  private static func escaped(_ argument: String) -> String {
    argument.utf8.contains(UInt8(ascii: "$"))
      ? argument.split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$") : argument
  }
}

extension BusError {
  /// Whether nobody answered, and what was asked for may have been done or not.
  var isWithoutAnswer: Bool {
    ["org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout", "System.Error"].contains(name)
  }
}
