import RefreshConfig
import Systemd

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
