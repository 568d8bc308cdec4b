/// The rules of a sandbox in a user's daemon, whose service manager has no more rights than the user.
///
/// systemd 252 ignores properties that such a manager cannot apply, and starts the unit without that protection. So
/// refreshd refuses properties that no user manager can apply. Properties that work in a user namespace get one
/// (`PrivateUsers`, systemd.exec(5)). If systemd cannot create it, the unit fails to start.
enum SandboxOfUsers {
  /// The keys that only the machine's service manager can apply.
  ///
  /// A user's manager has the controllers pids, memory and cpu, but not io (user@.service).
  static let refused: Set<String> = [
    "DevicePolicy", "IOWeight", "IPAddressAllow", "IPAddressDeny", "ProcSubset", "ProtectProc",
  ]

  /// The keys that need a user namespace.
  private static let needingPrivateUsers: Set<String> = [
    "CapabilityBoundingSet", "ExecPaths", "InaccessiblePaths", "NoExecPaths", "PrivateDevices", "PrivateIPC",
    "PrivateMounts", "PrivateNetwork", "PrivateTmp", "ProtectClock", "ProtectControlGroups", "ProtectHome",
    "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "ProtectSystem",
    "ReadOnlyPaths", "ReadWritePaths",
  ]

  /// The mistake for a key that a user's manager cannot apply.
  static func refusal(of key: String) -> Unreadable {
    Unreadable(
      "cannot take \(key) in a user's daemon: only the machine's service manager can do it",
      remedy: "remove the key, or install the app for the system's daemon")
  }

  /// The mistake for `PrivateUsers = false` together with a key that needs the namespace.
  static func refusalOfSharedUsers(beside key: String) -> Unreadable {
    Unreadable(
      "cannot do \(key) in a user's daemon without PrivateUsers",
      remedy: "remove the key, which is true then, or \(key)")
  }

  /// The first key, by its name, that needs a user namespace.
  static func firstNeedingPrivateUsers(in keys: [String: [SandboxProperty]]) -> String? {
    keys.keys.sorted().first { needingPrivateUsers.contains($0) && keys[$0]?.contains { !$0.isOff } == true }
  }
}

extension SandboxProperty {
  /// Whether the property restricts nothing.
  fileprivate var isOff: Bool { value == .boolean(false) || value == .text("no") || value == .texts([]) }
}
