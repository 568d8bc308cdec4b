/// A key of `[sandbox]`: a property of systemd.exec(5) or systemd.resource-control(5) that restricts tasks and grants
/// nothing.
struct SandboxKey: Sendable {
  /// The key, spelled as in the manual pages.
  let name: String
  /// A valid value, as a file has it.
  private let example: String
  /// Makes properties from a value; nil for a value of another type.
  private let read: @Sendable (Node) throws(Unreadable) -> [SandboxProperty]?

  /// The type of the key's value.
  var type: ValueType<[SandboxProperty]> {
    ValueType(example: example) { (node, _) throws(Unreadable) in try read(node) }
  }

  /// Makes a key of one property with the same name.
  private init(
    _ name: String, _ example: String,
    _ read: @escaping @Sendable (Node) throws(Unreadable) -> SandboxProperty.Value?
  ) {
    self.init(name, example, named: { (node) throws(Unreadable) in try read(node).map { (name, $0) } })
  }

  /// Makes a key of one property whose name depends on the value.
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

  /// Every key.
  static let all = files + kernel + resources + addresses

  /// Restrictions on files and devices.
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

  /// Restrictions on the kernel's functions.
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

  private static func integer<Number: FixedWidthInteger & Sendable>(
    _ name: String, _ bounds: ClosedRange<Number>, example: Number,
    _ value: @escaping @Sendable (Number) -> SandboxProperty.Value
  ) -> SandboxKey {
    SandboxKey(name, "\(example)") { (node) throws(Unreadable) in
      try ValueType<Number>.integer(bounds, example: example).read(node, name).map(value)
    }
  }

  private static func switches(_ names: [String]) -> [SandboxKey] {
    names.map { name in
      SandboxKey(name, "true") { node in if case .boolean(let value) = node.value { .boolean(value) } else { nil } }
    }
  }

  /// Limits on resources.
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
      integer("Nice", 0...19, example: 10, SandboxProperty.Value.int32),
      integer("OOMScoreAdjust", 0...1000, example: 500, SandboxProperty.Value.int32),
      integer("IOSchedulingPriority", 0...7, example: 7, SandboxProperty.Value.int32),
      SandboxKey("IOSchedulingClass", #""idle""#) { (node) throws(Unreadable) in
        try node.number(of: ["best-effort": 2, "idle": 3])
      },
      SandboxKey("CPUSchedulingPolicy", #""batch""#) { (node) throws(Unreadable) in
        try node.number(of: ["other": 0, "batch": 3, "idle": 5])
      },
    ]
    + ["CPUWeight", "IOWeight"].map { integer($0, 1...10_000, example: 20, SandboxProperty.Value.uint64) }
    + [("LimitNOFILE", false), ("LimitNPROC", false), ("LimitFSIZE", true), ("LimitAS", true), ("LimitCORE", true)]
    .map { name, isSize in
      SandboxKey(
        name: name, example: isSize ? #""1G""# : "1024",
        read: { (node) throws(Unreadable) in
          // The property without a suffix is the hard limit.
          try node.amount(isSize: isSize).map { amount in
            [SandboxProperty(name, .uint64(amount)), SandboxProperty("\(name)Soft", .uint64(amount))]
          }
        })
    }

  /// Restrictions on network peers.
  private static let addresses = ["IPAddressDeny", "IPAddressAllow"].map { name in
    SandboxKey(name, #"["any"]"#) { (node) throws(Unreadable) in try node.addressRanges().map { .addresses($0) } }
  }
}
