import Systemd

/// The fixed properties of the units in which refresh-worker runs; see systemd.exec(5).
///
/// refresh-worker reads data from servers, so a mistake in it must not reach beyond the files that it moves. A property of
/// the same name in the app's `[sandbox]` replaces the fixed one.
struct WorkerConfinement: Hashable, Sendable {
  /// The files that may be written.
  enum Writes: Hashable, Sendable {
    /// Files in these folders and below.
    case folders([String])
    /// All files that the owner may write.
    case all
  }

  let writes: Writes

  /// The properties for a unit of the system, or of a user's manager, which cannot make a view of the file system.
  func properties(isUserManager: Bool) -> [UnitProperty] {
    isUserManager ? Self.ofProcess : Self.ofProcess + Self.ofView + writable
  }

  /// The properties that need no privilege.
  private static let ofProcess = [
    flag("NoNewPrivileges"), flag("LockPersonality"), flag("MemoryDenyWriteExecute"), flag("RestrictRealtime"),
    flag("RestrictSUIDSGID"),
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
    UnitProperty(
      "SystemCallFilter",
      .structure([
        .boolean(false), .strings(["@aio", "@chown", "@clock", "@keyring", "@memlock", "@resources", "@setuid"]),
      ])),
    UnitProperty("MemoryMax", .uint64(256 << 20)),
    UnitProperty("TasksMax", .uint64(64)),
  ]

  /// The properties that give the process its own view of the machine.
  private static let ofView = [
    flag("PrivateDevices"), flag("PrivateIPC"), flag("PrivateMounts"), flag("ProtectClock"),
    flag("ProtectControlGroups"), flag("ProtectHostname"), flag("ProtectKernelLogs"), flag("ProtectKernelModules"),
    flag("ProtectKernelTunables"), UnitProperty("ProtectProc", .string("invisible")),
    UnitProperty("CapabilityBoundingSet", .uint64(0)), UnitProperty("AmbientCapabilities", .uint64(0)),
  ]

  private var writable: [UnitProperty] {
    guard case .folders(let folders) = writes else { return [] }
    // The worker itself reports a missing folder.
    return [
      UnitProperty("ProtectSystem", .string("strict")),
      UnitProperty("ProtectHome", .string("read-only")),
      UnitProperty("ReadWritePaths", .strings(folders.map { "-\($0)" })),
    ]
  }

  private static func flag(_ name: String) -> UnitProperty { UnitProperty(name, .boolean(true)) }

  private static func filter(allowing names: [String]) -> BusArgument {
    .structure([.boolean(true), .strings(names)])
  }
}
