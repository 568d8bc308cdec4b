/// What is different in a user's daemon, whose service manager has no more rights than its user.
///
/// systemd 252 passes over what such a manager cannot do, and starts the unit without it (seen there): a sandbox that
/// is none. So what can be done in a user namespace gets one (`PrivateUsers`, systemd.exec(5)), without which the unit
/// then does not start, and what cannot be done is refused.
enum SandboxOfUsers {
  /// What only the machine's service manager can do.
  ///
  /// Of the controllers a user's manager is given pids, memory and cpu, and not io (user@.service).
  static let refused: Set<String> = [
    "DevicePolicy", "IOWeight", "IPAddressAllow", "IPAddressDeny", "ProcSubset", "ProtectProc",
  ]

  /// What can be done in a user namespace.
  private static let needingPrivateUsers: Set<String> = [
    "CapabilityBoundingSet", "ExecPaths", "InaccessiblePaths", "NoExecPaths", "PrivateDevices", "PrivateIPC",
    "PrivateMounts", "PrivateNetwork", "PrivateTmp", "ProtectClock", "ProtectControlGroups", "ProtectHome",
    "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "ProtectSystem",
    "ReadOnlyPaths", "ReadWritePaths",
  ]

  /// The mistake of a key that nobody can do for a user.
  static func refusal(of key: String) -> Unreadable {
    Unreadable(
      message: "cannot take \(key) in a user's daemon: only the machine's service manager can do it",
      remedy: "remove the key, or install the app for the system's daemon")
  }

  /// The mistake of a `PrivateUsers = false` beside a key that needs it.
  static func refusalOfSharedUsers(beside key: String) -> Unreadable {
    Unreadable(
      message: "cannot do \(key) in a user's daemon without PrivateUsers",
      remedy: "remove the key, which is true then, or \(key)")
  }

  /// The first key, by its name, that needs a user namespace.
  static func firstNeedingPrivateUsers(in keys: [String: [SandboxProperty]]) -> String? {
    keys.keys.sorted().first { needingPrivateUsers.contains($0) && keys[$0]?.contains { !$0.isOff } == true }
  }
}

extension SandboxProperty {
  /// Whether it takes nothing away.
  fileprivate var isOff: Bool { value == .boolean(false) || value == .text("no") || value == .texts([]) }
}
