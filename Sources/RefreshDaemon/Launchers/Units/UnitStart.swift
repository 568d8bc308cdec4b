import Glibc
import RefreshConfig
import RefreshEngine
import Systemd

// The start of a task: makes its file, its streams and its unit.

extension SystemdLauncher {
  /// How long after the daemon's own SIGKILL the manager ends a task, in case the daemon is gone; in microseconds.
  private static let margin: Int64 = 1_000_000
  /// The timeout of a call to the manager, in microseconds: the default of sd-bus(3).
  static let patience: Int64 = 25_000_000
  /// The most time to load the program, in microseconds: the default of `DefaultTimeoutStartSec=`
  /// (systemd-system.conf(5)).
  private static let longestStart: Int64 = 90_000_000

  /// Starts a task, or leaves it waiting for the bus.
  func run(_ task: SystemdTask) {
    task.state = .awaitingBus
    guard bus.state == .connected, let launch = task.launch else { return }
    task.call = calls.add { [unowned self, unowned task] in
      callStart(of: task, launch, reply: $0)
    } answer: { [unowned self, unowned task] answer in
      guard case .starting = task.state else { return }
      switch answer {
      case .success:
        task.state = .running
        reference(task)
        // The unit may not have been there when it was sent, on another connection.
        if let signal = task.sentSignal { send(signal, to: task) }
        lookAtEnd(of: task)
      case .failure(let error): startFailed(task, error)
      }
    }
  }

  /// Prepares the files and streams of a task, and asks the manager to start its unit.
  private func callStart(
    of task: SystemdTask, _ launch: TaskLaunch, reply: @escaping (BusCall.Answer) -> Void
  ) -> AnyObject? {
    do throws(StartError) {
      do throws(SystemCallError) {
        try task.file.write(launch.environment, before: task.before)
      } catch {
        throw StartError(sentence: "cannot start \(task.program): \(error)")
      }
      let pipe = try TaskStreams.lastingOutput(at: task.file.output, for: task.program)
      var passed = [pipe.writer]
      do throws(StartError) {
        try listen(to: pipe.reader, of: task)
        keepOutput(pipe.reader, of: task)
        let input = try launch.input.map { (bytes) throws(StartError) in
          try TaskStreams.input(bytes, for: task.program)
        }
        if let input { passed.append(input) }
        let start = ServiceManager.start(
          task.unit, properties(of: task, launch, output: pipe.writer, input: input))
        task.known = UnitState()
        task.state = .starting
        weigh()
        return call(start, passing: passed, reply: reply)
      } catch {
        for descriptor in passed { close(descriptor) }
        throw error
      }
    } catch {
      fail(task, error.sentence)
      return nil
    }
  }

  /// Starts a unit, and closes the descriptors that it gets; the result keeps the call alive.
  private func call(
    _ start: BusMethod, passing descriptors: [Int32], reply: @escaping (BusCall.Answer) -> Void
  ) -> AnyObject {
    let close = { for descriptor in descriptors { Glibc.close(descriptor) } }
    guard let starts else {
      defer { close() }
      return bus.call(start, timeout: Self.patience, handler: reply)
    }
    starts.call(start, timeout: Self.patience) { answer in
      close()
      reply(answer)
    }
    return starts
  }

  /// Reads the output of a task.
  func listen(to reader: Int32, of task: SystemdTask) throws(StartError) {
    let meter = meters.meter(of: task.app, at: EventLoop.bootMicroseconds())
    do throws(SystemdError) {
      task.output = try TaskOutput(reader, of: task.key, on: loop, meter: meter, for: owner) { [unowned task] in
        task.notePrinted()
      }
    } catch {
      throw StartError(sentence: "cannot start \(task.program): \(error)")
    }
  }

  /// Stores the reading end of the pipe in the daemon's own manager, so that the output survives the daemon.
  private func keepOutput(_ reader: Int32, of task: SystemdTask) {
    do throws(SystemdError) {
      try Notify.store(reader, name: task.outputName)
    } catch {
      // The output is lost if the daemon dies, but the task is not.
      return
    }
  }

  private func startFailed(_ task: SystemdTask, _ error: BusError) {
    guard !error.isWithoutAnswer, !error.isNobodyThere else {
      // The unit may have been started all the same. The list of units will tell, also from a manager that comes back.
      task.state = .awaitingBus
      return listUnits()
    }
    fail(task, "cannot start \(task.program): the service manager refuses: \(error)")
  }

  private func properties(
    of task: SystemdTask, _ launch: TaskLaunch, output: Int32, input: Int32?
  ) -> [UnitProperty] {
    let command = launch.command
    let bound = (launch.timeLimit + launch.grace).inMicroseconds + Self.margin
    var properties = [
      // In a unit, the description is a single line.
      UnitProperty("Description", .string(String(launch.description.map { $0.isNewline ? " " : $0 }))),
      UnitProperty("Slice", .string(UnitNames.slice(of: launch.app))),
      // At shutdown the daemon stops first: it terminates its tasks and saves why they ended.
      UnitProperty("Before", .strings(["refreshd.service"])),
      UnitProperty("Type", .string("exec")),
      UnitProperty("RemainAfterExit", .boolean(true)),
      // Programs expect that SIGPIPE ends them.
      UnitProperty("IgnoreSIGPIPE", .boolean(false)),
      UnitProperty("KillMode", .string("control-group")),
      // If the task runs out of memory, it has failed, so its remaining processes end too.
      UnitProperty("OOMPolicy", .string("stop")),
      UnitProperty("RuntimeMaxUSec", .uint64(UInt64(max(1, bound)))),
      // RuntimeMaxUSec counts only once the program is loaded, which may hang on an unresponsive file server.
      UnitProperty("TimeoutStartUSec", .uint64(UInt64(max(1, min(bound, Self.longestStart))))),
      // 0 would mean no limit.
      UnitProperty("TimeoutStopUSec", .uint64(UInt64(max(1, launch.grace.inMicroseconds)))),
      UnitProperty(
        "SuccessExitStatus",
        .structure([.array(of: "i", launch.goodExits.map { .int32($0) }), .array(of: "i", [])])),
      UnitProperty("WorkingDirectory", .string(task.directory)),
      // A task may send journald itself as much as refreshd accepts from its output.
      UnitProperty("LogRateLimitIntervalUSec", .uint64(UInt64(OutputAllowance.span))),
      UnitProperty("LogRateLimitBurst", .uint32(UInt32(OutputAllowance.lines))),
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
    if !setup.isUserManager {
      properties.append(UnitProperty("User", .string(launch.owner.name)))
      properties.append(UnitProperty("Group", .string(String(command.group ?? launch.owner.gid))))
    }
    let weight = launch.givesWay ? SliceWeights.properties(isUserManager: setup.isUserManager) : []
    return properties + weight + launch.confinement(isUserManager: setup.isUserManager)
  }

  /// An argument whose `$` are doubled, because the manager expands variables (systemd.service(5), "Command Lines").
  ///
  /// The property `ExecStartEx` has no expansion, but in systemd 252 `daemon-reload` breaks such a unit.
  private static func escaped(_ argument: String) -> String {
    argument.utf8.contains(UInt8(ascii: "$"))
      ? argument.split(separator: "$", omittingEmptySubsequences: false).joined(separator: "$$") : argument
  }
}

/// A property of a transient unit, such as `MemoryMax` (org.freedesktop.systemd1(5)).
struct UnitProperty: Hashable, Sendable {
  /// The name on the bus, which ends in `USec` for times.
  let name: String
  /// The value, of the exact type that the manager expects.
  let value: BusArgument

  init(_ name: String, _ value: BusArgument) {
    self.name = name
    self.value = value
  }

  var argument: BusArgument { .structure([.string(name), .variant(value)]) }
}

/// The weights of the launcher's slices.
///
/// A weight counts only among siblings in the tree of cgroups (cgroups(7)), so a task's own weight would not matter to the
/// user's programs. A slice whose tasks all give way has the low weight as a whole, up to `refreshd.slice`. It has the
/// usual weight as soon as somebody waits for one of its tasks.
struct SliceWeights {
  /// The weights of tasks that give way, and of all others (systemd.resource-control(5), `CPUWeight=`).
  static let low: UInt64 = 20
  private static let usual: UInt64 = 100

  /// Whether a slice has the low weight; no entry if only a previous daemon has set its weight.
  private var isLowered: [String: Bool] = [:]

  /// The properties of a task or a slice with low weight.
  static func properties(isUserManager: Bool, weight: UInt64 = low) -> [UnitProperty] {
    let names = isUserManager ? ["CPUWeight"] : ["CPUWeight", "IOWeight"]
    return names.map { UnitProperty($0, .uint64(weight)) }
  }

  /// The calls that give the slices the weights that these tasks need; none for a slice without any.
  mutating func update(_ tasks: some Sequence<SystemdTask>, isUserManager: Bool) -> [BusMethod] {
    var givesWay: [String: Bool] = [:]
    for task in tasks where !task.isReported {
      for slice in [UnitNames.slice, UnitNames.slice(of: task.app)] {
        givesWay[slice] = (givesWay[slice] ?? true) && task.launch?.givesWay == true
      }
    }
    var calls: [BusMethod] = []
    for (slice, isLow) in givesWay.sorted(by: { $0.key < $1.key }) where isLowered[slice] != isLow {
      isLowered[slice] = isLow
      let properties = Self.properties(isUserManager: isUserManager, weight: isLow ? Self.low : Self.usual)
      calls.append(ServiceManager.set(properties, of: slice))
    }
    return calls
  }
}

/// The files that a refresh-worker may write.
///
/// refresh-worker reads data from servers, so a mistake in it must not reach beyond the files that it moves.
struct WorkerConfinement: Hashable, Sendable {
  enum Writes: Hashable, Sendable {
    /// Files in these folders and below.
    case folders([String])
    /// All files that the owner may write.
    case all
  }

  let writes: Writes
}

/// The properties of a unit that confine its process; see systemd.exec(5).
extension TaskLaunch {
  /// The properties for a unit of the system, or of a user's manager.
  ///
  /// In an app's sandbox a worker may write what the sandbox may: tasks can ask for transfers.
  func confinement(isUserManager: Bool) -> [UnitProperty] {
    let isStrict = sandbox.level == .strict
    let isWorker = confinement != nil
    var properties = isStrict || isWorker ? Self.ofProcess : []
    if isStrict {
      properties += view(isUserManager: isUserManager, writable: sandbox.writable)
    } else if let confinement, !isUserManager {
      properties += view(isUserManager: false, writable: confinement.writable)
    }
    if isWorker {
      properties += Self.ofWorker
    } else if let most = sandbox.memoryMax {
      properties.append(UnitProperty("MemoryMax", .uint64(UInt64(most))))
    }
    return properties
  }

  /// The properties that need no privilege.
  private static let ofProcess = [
    flag("NoNewPrivileges"), flag("LockPersonality"), flag("RestrictRealtime"), flag("RestrictSUIDSGID"),
    // No namespace of any kind.
    UnitProperty("RestrictNamespaces", .uint64(0)),
    UnitProperty("KeyringMode", .string("private")),
    // The C library asks by NETLINK which address families this machine has.
    UnitProperty(
      "RestrictAddressFamilies", filter(allowing: ["AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK"])),
    UnitProperty("SystemCallArchitectures", .strings(["native"])),
    UnitProperty("SystemCallErrorNumber", .int32(1)),
    // The group lacks the calls of Landlock in Debian 12; a name that systemd does not know is left out.
    UnitProperty(
      "SystemCallFilter",
      filter(allowing: [
        "@system-service", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self",
      ])),
  ]

  /// The further limits of refresh-worker; the first would break programs that compile as they run.
  private static let ofWorker = [
    flag("MemoryDenyWriteExecute"),
    UnitProperty(
      "SystemCallFilter",
      .structure([
        .boolean(false), .strings(["@aio", "@chown", "@clock", "@keyring", "@memlock", "@resources", "@setuid"]),
      ])),
    UnitProperty("MemoryMax", .uint64(256 << 20)),
    UnitProperty("TasksMax", .uint64(64)),
  ]

  /// The properties that give the process its own view of the machine.
  ///
  /// A user's manager can make one in a user namespace only.
  private func view(isUserManager: Bool, writable: [String]?) -> [UnitProperty] {
    var properties = [
      "PrivateDevices", "PrivateIPC", "PrivateMounts", "ProtectClock", "ProtectControlGroups", "ProtectHostname",
      "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables",
    ].map(Self.flag)
    properties.append(isUserManager ? Self.flag("PrivateUsers") : UnitProperty("ProtectProc", .string("invisible")))
    // A backup by root must read all files.
    if confinement != nil || owner.uid != 0 {
      properties += ["CapabilityBoundingSet", "AmbientCapabilities"].map { UnitProperty($0, .uint64(0)) }
    }
    // A file that a worker puts into such a folder would be lost.
    if confinement == nil { properties.append(Self.flag("PrivateTmp")) }
    if sandbox.isOffline { properties.append(Self.flag("PrivateNetwork")) }
    guard let writable else { return properties }
    return properties + [
      UnitProperty("ProtectSystem", .string("strict")),
      UnitProperty("ProtectHome", .string("read-only")),
      // The process itself reports a missing folder.
      UnitProperty("ReadWritePaths", .strings(writable.map { "-\($0)" })),
      // Beside ProtectProc, systemd 252 leaves it writable.
      UnitProperty("ReadOnlyPaths", .strings(writable.contains("/run") ? [] : ["-/run"])),
    ]
  }

  private static func flag(_ name: String) -> UnitProperty { UnitProperty(name, .boolean(true)) }

  private static func filter(allowing names: [String]) -> BusArgument {
    .structure([.boolean(true), .strings(names)])
  }
}

extension WorkerConfinement {
  fileprivate var writable: [String]? { if case .folders(let folders) = writes { folders } else { nil } }
}
