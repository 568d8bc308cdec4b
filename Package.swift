// swift-tools-version: 6.2
import PackageDescription

// CI turns every warning into an error; a developer in the middle of a change keeps building.
let strict: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

// The simulator plays weeks of the engine in each test, so both are optimised in debug builds, too.
let optimised = strict + [.unsafeFlags(["-O"], .when(configuration: .debug))]

// Sources/README.md says who may import whom, and RepositoryTests hold this tree against it.
let package = Package(
  name: "refreshd",
  products: [
    .executable(name: "refreshd", targets: ["refreshd"]),
    .executable(name: "refreshctl", targets: ["refreshctl"]),
    .executable(name: "refresh-worker", targets: ["refresh-worker"]),
    .executable(name: "refresh-push", targets: ["refresh-push"]),
    .executable(name: "refresh-session", targets: ["refresh-session"]),
    .library(name: "RefreshKit", targets: ["RefreshKit"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  ],
  targets: [
    .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
    .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .target(name: "CWindows", linkerSettings: [.linkedLibrary("wayland-client"), .linkedLibrary("xcb")]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CMath"),
    .target(name: "CTomlPlusPlus"),

    .target(
      name: "RefreshEngine",
      dependencies: ["CMath", .product(name: "HeapModule", package: "swift-collections")],
      swiftSettings: optimised),
    .target(name: "Threads", dependencies: ["CLinux"], swiftSettings: strict),
    .target(name: "RefreshStore", dependencies: ["RefreshEngine", "CSQLite"], swiftSettings: strict),
    .target(
      name: "RefreshConfig",
      dependencies: ["RefreshEngine", "RefreshAPI", "JSON", "Threads", "CLinux", "CTomlPlusPlus"],
      swiftSettings: strict),
    .executableTarget(name: "varlink-swift", swiftSettings: strict),
    .plugin(name: "VarlinkSwift", capability: .buildTool(), dependencies: ["varlink-swift"]),
    .target(name: "JSON", swiftSettings: strict),
    .target(
      name: "Varlink",
      dependencies: ["JSON", "Threads", "CLinux", .product(name: "DequeModule", package: "swift-collections")],
      swiftSettings: strict, plugins: ["VarlinkSwift"]),
    .target(name: "RefreshAPI", dependencies: ["JSON", "Varlink"], swiftSettings: strict, plugins: ["VarlinkSwift"]),
    .target(name: "HTTP", dependencies: ["CCurl", "CZlib"], swiftSettings: strict),
    .target(name: "Systemd", dependencies: ["Threads", "CSystemd"], swiftSettings: strict),
    .target(
      name: "RefreshDaemon",
      dependencies: [
        "RefreshEngine", "RefreshStore", "RefreshConfig", "RefreshAPI", "Varlink", "JSON", "Systemd", "Threads",
        "CLinux",
      ],
      swiftSettings: strict, plugins: ["VarlinkSwift"]),
    .target(
      name: "RefreshKit", dependencies: ["RefreshAPI", "Varlink", "Threads", "CLinux"], swiftSettings: strict,
      plugins: ["VarlinkSwift"]),
    .executableTarget(name: "refresh-example", dependencies: ["RefreshKit"], swiftSettings: strict),
    .executableTarget(
      name: "attached-bench", dependencies: ["RefreshKit"], path: "bench/Attached", swiftSettings: strict),
    .target(name: "RefreshRehearsal", dependencies: ["RefreshEngine", "JSON"], swiftSettings: strict),
    .executableTarget(name: "refreshd", dependencies: ["RefreshDaemon"], swiftSettings: strict),
    .executableTarget(
      name: "refresh-worker",
      dependencies: ["RefreshAPI", "Varlink", "JSON", "HTTP", "Systemd", "Threads", "CLinux", "CCrypto", "CZlib"],
      swiftSettings: strict),
    .executableTarget(
      name: "refresh-push",
      dependencies: [
        "RefreshAPI", "RefreshConfig", "RefreshEngine", "Varlink", "JSON", "HTTP", "Systemd", "Threads", "CLinux",
        "CCrypto",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "refresh-session", dependencies: ["RefreshAPI", "Varlink", "JSON", "Systemd", "CWindows"],
      swiftSettings: strict),
    .executableTarget(
      name: "refreshctl",
      dependencies: [
        "RefreshAPI", "Varlink", "JSON", "RefreshConfig", "RefreshEngine", "RefreshRehearsal", "CLinux",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    test("RepositoryTests", []),
    test("RefreshEngineTests", ["RefreshEngine", "Simulator"], exclude: ["Learning/reference.py"]),
    .target(
      name: "Simulator",
      dependencies: ["RefreshEngine", .product(name: "HeapModule", package: "swift-collections")],
      path: "Tests/Simulator", exclude: ["Command"], swiftSettings: optimised),
    .executableTarget(
      name: "simulate", dependencies: ["Simulator"], path: "Tests/Simulator/Command", swiftSettings: strict),
    .executableTarget(
      name: "engine-bench", dependencies: ["RefreshEngine", "Simulator", "CLinux"], path: "bench/Engine",
      swiftSettings: strict),
    test("SimulatorTests", ["Simulator", "RefreshEngine", "simulate"], exclude: ["traces.txt"]),
    test(
      "RefreshStoreTests", ["RefreshStore", "RefreshEngine", "Threads", "CSQLite"],
      resources: [.embedInCode("Fixtures/schema-16.sql")]),
    test("RefreshConfigTests", ["RefreshConfig"]),
    test("JSONTests", ["JSON"]),
    test("VarlinkTests", ["Varlink", "JSON", "CLinux"], plugins: ["VarlinkSwift"]),
    test(
      "RefreshAPITests", ["RefreshAPI", "Varlink", "JSON"],
      exclude: ["test_interfaces.py", "test_generator.py", "json_schema.py", "test_json_schema.py"]),
    .target(name: "PrivateBus", dependencies: ["Systemd"], path: "Tests/PrivateBus", swiftSettings: strict),
    test("SystemdTests", ["Systemd", "PrivateBus"]),
    test("ThreadsTests", ["Threads"]),
    test(
      "RefreshDaemonTests",
      ["RefreshDaemon", "RefreshAPI", "RefreshStore", "Simulator", "PrivateBus", "Threads", "CLinux"]),
    test("RefreshKitTests", ["RefreshKit", "RefreshAPI", "Varlink", "JSON", "refreshd"]),
    test("RefreshRehearsalTests", ["RefreshRehearsal", "RefreshEngine"]),
    .executableTarget(
      name: "conditions-probe", dependencies: ["RefreshDaemon", "RefreshEngine", "Systemd"],
      path: "Tests/ConditionsProbe", swiftSettings: strict),
    test(
      "refreshctlTests", ["refreshctl", "RefreshAPI", "Varlink"],
      exclude: ["test_help.py", "test_refreshctl.py", "test_output.py", "test_top_questions.py", "answers.json"]),
    test("HTTPTests", ["HTTP"]),
    test("refresh-pushTests", ["refresh-push", "RefreshAPI", "RefreshConfig", "Varlink", "HTTP"]),
    test("refresh-sessionTests", ["refresh-session", "RefreshAPI"]),
    test("refresh-workerTests", ["refresh-worker", "RefreshAPI", "Varlink", "JSON", "HTTP"]),
    .executableTarget(
      name: "varlink-certification",
      dependencies: ["Varlink", "JSON", "Systemd"],
      path: "Tests/VarlinkCertification",
      exclude: ["certification.py", "conftest.py", "test_certification.py", "test_crowds.py"],
      swiftSettings: strict, plugins: ["VarlinkSwift"]),
  ]
)

func test(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = [],
  plugins: [Target.PluginUsage] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: strict,
    plugins: plugins)
}
