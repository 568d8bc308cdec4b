/// The names that systemd accepts for functions of the kernel.
enum SandboxNames {
  /// The bit of each capability (capabilities(7)).
  static let capabilities: [String: UInt64] = Dictionary(
    uniqueKeysWithValues: [
      "CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP",
      "LINUX_IMMUTABLE", "NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER",
      "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE", "SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE",
      "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE", "AUDIT_CONTROL", "SETFCAP",
      "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
      "CHECKPOINT_RESTORE",
    ].enumerated().map { ("CAP_\($1)", 1 << $0) })

  /// The clone(2) flag of each kind of namespace (namespaces(7)).
  static let namespaces: [String: UInt64] = [
    "mnt": 0x0002_0000, "cgroup": 0x0200_0000, "uts": 0x0400_0000, "ipc": 0x0800_0000, "user": 0x1000_0000,
    "pid": 0x2000_0000, "net": 0x4000_0000,
  ]

  /// The address families (address_families(7)).
  static let addressFamilies: Set<String> = Set(
    [
      "UNIX", "LOCAL", "INET", "INET6", "NETLINK", "PACKET", "BLUETOOTH", "ALG", "VSOCK", "CAN", "KEY", "XDP", "TIPC",
      "AX25", "X25", "IPX", "APPLETALK", "RDS", "PPPOX", "LLC", "IB", "MPLS", "NFC", "KCM", "QIPCRTR", "SMC", "PHONET",
      "IEEE802154", "ISDN", "RXRPC", "CAIF", "ATMPVC", "ATMSVC",
    ].map { "AF_\($0)" })

  /// The architectures of systemd.exec(5), "SystemCallArchitectures=".
  static let architectures: Set<String> = [
    "native", "x86", "x86-64", "x32", "arm", "arm64", "loongarch64", "mips", "mips64", "mips64-n32", "mips-le",
    "mips64-le", "mips64-le-n32", "parisc", "parisc64", "ppc", "ppc64", "ppc64-le", "riscv64", "s390", "s390x",
  ]

  /// The groups of system calls of systemd.exec(5), "SystemCallFilter=".
  private static let systemCallGroups: Set<String> = [
    "aio", "basic-io", "chown", "clock", "cpu-emulation", "debug", "default", "file-system", "io-event", "ipc",
    "keyring", "known", "memlock", "module", "mount", "network-io", "obsolete", "pkey", "privileged", "process",
    "raw-io", "reboot", "resources", "sandbox", "setuid", "signal", "swap", "sync", "system-service", "timer",
  ]

  /// Whether the name is a group of system calls, or has the form of a system call; only the kernel knows their names.
  static func isSystemCall(_ name: String) -> Bool {
    if name.hasPrefix("@") { return systemCallGroups.contains(String(name.dropFirst())) }
    return !name.isEmpty
      && name.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
      }
  }
}
