/// A key of `[sandbox]`: a property of systemd.exec(5) or systemd.resource-control(5) that takes something away from
/// tasks and gives them nothing.
struct SandboxKey: Sendable {
  /// The key, as the manual pages have it.
  let name: String
  /// A value that would be right, as it is written in a file.
  let example: String
  /// Makes properties of a value; nil for a value of another type.
  let read: @Sendable (Node) throws(Unreadable) -> [SandboxProperty]?

  /// A key of one property of the same name.
  private init(
    _ name: String, _ example: String,
    _ read: @escaping @Sendable (Node) throws(Unreadable) -> SandboxProperty.Value?
  ) {
    self.init(name, example, named: { (node) throws(Unreadable) in try read(node).map { (name, $0) } })
  }

  /// A key of one property whose name hangs on the value.
  private init(
    _ name: String, _ example: String,
    named read: @escaping @Sendable (Node) throws(Unreadable) -> (String, SandboxProperty.Value)?
  ) {
    self.init(
      name: name, example: example,
      read: { (node) throws(Unreadable) in
        guard let (name, value) = try read(node) else { return nil }
        return [SandboxProperty(name, value)]
      })
  }

  private init(
    name: String, example: String, read: @escaping @Sendable (Node) throws(Unreadable) -> [SandboxProperty]?
  ) {
    (self.name, self.example, self.read) = (name, example, read)
  }

  /// All keys that there are.
  static let all = files + kernel + resources + addresses

  /// What tasks see of the file system and its devices.
  private static let files =
    [
      SandboxKey("ProtectSystem", #""strict""#) { (node) throws(Unreadable) in
        try node.word(or: ["full", "strict"])
      },
      SandboxKey("ProtectHome", #""read-only""#) { (node) throws(Unreadable) in
        try node.word(or: ["read-only", "tmpfs"])
      },
      SandboxKey("ProtectProc", #""invisible""#) { (node) throws(Unreadable) in
        try node.word(of: ["noaccess", "invisible", "ptraceable", "default"])
      },
      SandboxKey("ProcSubset", #""pid""#) { (node) throws(Unreadable) in try node.word(of: ["all", "pid"]) },
      SandboxKey("DevicePolicy", #""closed""#) { (node) throws(Unreadable) in
        try node.word(of: ["auto", "closed", "strict"])
      },
      SandboxKey("UMask", #""0077""#) { (node) throws(Unreadable) in try node.fileMode().map { .uint32($0) } },
    ]
    + ["ReadOnlyPaths", "ReadWritePaths", "InaccessiblePaths", "ExecPaths", "NoExecPaths"].map { name in
      SandboxKey(name, #"["/srv"]"#) { (node) throws(Unreadable) in try node.paths().map { .texts($0) } }
    }
    + switches(["PrivateTmp", "PrivateDevices", "PrivateMounts"])

  /// What tasks may ask of the kernel.
  private static let kernel =
    switches([
      "NoNewPrivileges", "PrivateUsers", "PrivateNetwork", "PrivateIPC", "ProtectClock", "ProtectControlGroups",
      "ProtectHostname", "ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "LockPersonality",
      "MemoryDenyWriteExecute", "RestrictRealtime", "RestrictSUIDSGID",
    ]) + [
      SandboxKey("RestrictAddressFamilies", #"["AF_UNIX", "AF_INET", "AF_INET6"]"#) { (node) throws(Unreadable) in
        if node.isText("none") { return .filter(isAllowing: true, []) }
        return try node.filter("an address family", remedy: #"write names of socket(2), such as "AF_INET", or "none""#)
        {
          SandboxNames.addressFamilies.contains($0)
        }
      },
      SandboxKey("SystemCallFilter", #"["@system-service"]"#) { (node) throws(Unreadable) in
        try node.filter(
          "a system call",
          remedy: #"write names of syscalls(2), or groups of systemd.exec(5), such as "@system-service""#,
          SandboxNames.isSystemCall)
      },
      SandboxKey("SystemCallErrorNumber", #""EPERM""#) { (node) throws(Unreadable) in
        try node.number(of: ["EPERM": 1, "EACCES": 13, "ENOSYS": 38])
      },
      SandboxKey("SystemCallArchitectures", #"["native"]"#) { (node) throws(Unreadable) in
        try node.words("an architecture", remedy: #"write names of systemd.exec(5), such as "native""#) {
          SandboxNames.architectures.contains($0)
        }.map { .texts($0) }
      },
      SandboxKey("RestrictNamespaces", "true") { (node) throws(Unreadable) in
        try node.flags(SandboxNames.namespaces, "a kind of namespace", isRestricting: true).map { .uint64($0) }
      },
      SandboxKey("CapabilityBoundingSet", #"["~CAP_SYS_ADMIN"]"#) { (node) throws(Unreadable) in
        try node.flags(SandboxNames.capabilities, "a capability", isRestricting: false).map { .uint64($0) }
      },
    ]

  private static func switches(_ names: [String]) -> [SandboxKey] {
    names.map { name in
      SandboxKey(name, "true") { node in if case .boolean(let value) = node.value { .boolean(value) } else { nil } }
    }
  }

  /// How much of the machine tasks may take.
  private static let resources =
    ["MemoryMax", "MemoryHigh", "MemorySwapMax"].map { name in
      SandboxKey(name, #""512M""#, named: { (node) throws(Unreadable) in try node.share(of: name, isSize: true) })
    } + [
      SandboxKey(
        "TasksMax", "64", named: { (node) throws(Unreadable) in try node.share(of: "TasksMax", isSize: false) }),
      SandboxKey(
        "CPUQuota", #""50%""#,
        named: { (node) throws(Unreadable) in
          try node.percentage().map { ("CPUQuotaPerSecUSec", .uint64(UInt64($0) * 100)) }
        }),
      SandboxKey("Nice", "10") { (node) throws(Unreadable) in try node.integer(within: 0...19).map { .int32($0) } },
      SandboxKey("OOMScoreAdjust", "500") { (node) throws(Unreadable) in
        try node.integer(within: 0...1000).map { .int32($0) }
      },
      SandboxKey("IOSchedulingPriority", "7") { (node) throws(Unreadable) in
        try node.integer(within: 0...7).map { .int32($0) }
      },
      SandboxKey("IOSchedulingClass", #""idle""#) { (node) throws(Unreadable) in
        try node.number(of: ["best-effort": 2, "idle": 3])
      },
      SandboxKey("CPUSchedulingPolicy", #""batch""#) { (node) throws(Unreadable) in
        try node.number(of: ["other": 0, "batch": 3, "idle": 5])
      },
    ]
    + ["CPUWeight", "IOWeight"].map { name in
      SandboxKey(name, "20") { (node) throws(Unreadable) in
        try node.integer(within: 1...10_000).map { .uint64(UInt64($0)) }
      }
    }
    + [("LimitNOFILE", false), ("LimitNPROC", false), ("LimitFSIZE", true), ("LimitAS", true), ("LimitCORE", true)]
    .map { name, isSize in
      SandboxKey(
        name: name, example: isSize ? #""1G""# : "1024",
        read: { (node) throws(Unreadable) in
          // The name alone is the hard limit.
          try node.amount(isSize: isSize).map { amount in
            [SandboxProperty(name, .uint64(amount)), SandboxProperty("\(name)Soft", .uint64(amount))]
          }
        })
    }

  /// Whom tasks may speak with.
  private static let addresses = ["IPAddressDeny", "IPAddressAllow"].map { name in
    SandboxKey(name, #"["any"]"#) { (node) throws(Unreadable) in try node.addressRanges().map { .addresses($0) } }
  }
}
