/// The properties of units that `[sandbox]` refuses, each with its reason.
enum SandboxRefusals {
  /// The refusals by the name of the property.
  static let all = Dictionary(
    (granting + own + replaced).map { ($0.0, Unreadable($0.1, remedy: $0.2)) },
    uniquingKeysWith: { first, _ in first })

  private static let granting: [(String, String, String)] = [
    ("User", "owner"), ("Group", "group"), ("SupplementaryGroups", nil), ("DynamicUser", nil), ("PAMName", nil),
    ("AmbientCapabilities", nil), ("SecureBits", nil), ("RootDirectory", nil), ("RootImage", nil), ("BindPaths", nil),
    ("BindReadOnlyPaths", nil), ("MountImages", nil), ("ExtensionImages", nil), ("ExtensionDirectories", nil),
    ("DeviceAllow", nil), ("Delegate", nil), ("LoadCredential", nil), ("LoadCredentialEncrypted", nil),
    ("NetworkNamespacePath", nil), ("IPCNamespacePath", nil), ("SELinuxContext", nil), ("AppArmorProfile", nil),
    ("SmackProcessLabel", nil), ("IPIngressFilterPath", nil), ("IPEgressFilterPath", nil), ("BPFProgram", nil),
  ].map { name, instead in
    (
      name, "cannot set \(name): it can give tasks more rights than the app's owner has",
      instead.map { "write \($0), above the first line that begins with [" } ?? "remove the key"
    )
  }

  private static let own: [(String, String, String)] = [
    ("ExecStart", "run"), ("ExecStartPre", nil), ("ExecStartPost", nil), ("ExecStop", nil), ("ExecStopPost", nil),
    ("ExecCondition", nil), ("ExecReload", nil), ("Type", nil), ("RemainAfterExit", nil), ("Restart", nil),
    ("KillMode", nil), ("KillSignal", nil), ("SendSIGKILL", nil), ("OOMPolicy", nil), ("Slice", nil),
    ("RuntimeMaxSec", "deadline"), ("TimeoutStopSec", "grace"), ("TimeoutSec", "deadline"),
    ("WorkingDirectory", "directory"), ("Environment", "environment"), ("EnvironmentFile", "environment"),
    ("StandardInput", nil), ("StandardOutput", nil), ("StandardError", nil), ("SyslogIdentifier", nil),
    ("SuccessExitStatus", "no_data_exit"), ("CPUAccounting", nil), ("MemoryAccounting", nil), ("IOAccounting", nil),
    ("IPAccounting", nil), ("TasksAccounting", nil),
  ].map { name, instead in
    (
      name, "cannot set \(name): refreshd sets it itself",
      instead.map { "write \($0), outside of this table" } ?? "remove the key"
    )
  }

  private static let replaced: [(String, String, String)] = [
    ("MemoryLimit", "MemoryMax"), ("CPUShares", "CPUWeight"), ("BlockIOWeight", "IOWeight"),
  ].map { ($0, "cannot set \($0): systemd has given it up", "write \($1)") }
}
