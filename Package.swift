// swift-tools-version: 6.2
import PackageDescription

// CI turns every warning into an error; a developer in the middle of a change keeps building.
let strict: [SwiftSetting] = Context.environment["CI"] == nil ? [] : [.treatAllWarnings(as: .error)]

// Sources/README.md says who may import whom, and RepositoryTests hold this tree against it.
let package = Package(
  name: "refreshd",
  products: [
    .executable(name: "refreshd", targets: ["refreshd"]),
    .executable(name: "refreshctl", targets: ["refreshctl"]),
    .executable(name: "refresh-worker", targets: ["refresh-worker"]),
    .executable(name: "refresh-push", targets: ["refresh-push"]),
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
    .systemLibrary(name: "CMosquitto", pkgConfig: "libmosquitto", providers: [.apt(["libmosquitto-dev"])]),
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CMath"),
    .target(name: "CTomlPlusPlus"),

    .target(
      name: "RefreshEngine",
      dependencies: ["CMath", .product(name: "HeapModule", package: "swift-collections")],
      swiftSettings: strict),
    .target(name: "RefreshStore", dependencies: ["RefreshEngine", "CSQLite"], swiftSettings: strict),
    .target(name: "RefreshConfig", dependencies: ["RefreshEngine", "CTomlPlusPlus"], swiftSettings: strict),
    .target(name: "Varlink", dependencies: ["CLinux"], swiftSettings: strict),
    .target(
      name: "RefreshAPI",
      resources: [
        .embedInCode("org.refreshd.App.varlink"), .embedInCode("org.refreshd.Manager.varlink"),
        .embedInCode("org.refreshd.Transfers.varlink"), .embedInCode("org.refreshd.Worker.varlink"),
        .embedInCode("org.refreshd.Push.varlink"),
      ],
      swiftSettings: strict),
    .target(name: "HTTP", dependencies: ["CCurl"], swiftSettings: strict),
    .target(name: "Systemd", dependencies: ["CSystemd"], swiftSettings: strict),
    .target(
      name: "RefreshDaemon",
      dependencies: ["RefreshEngine", "RefreshStore", "RefreshConfig", "RefreshAPI", "Varlink", "Systemd", "CLinux"],
      swiftSettings: strict),
    .target(name: "RefreshKit", dependencies: ["RefreshAPI", "Varlink", "CLinux"], swiftSettings: strict),
    .executableTarget(name: "refresh-example", dependencies: ["RefreshKit"], swiftSettings: strict),
    .executableTarget(
      name: "attached-bench", dependencies: ["RefreshKit"], path: "bench/Attached", swiftSettings: strict),
    .target(name: "RefreshRehearsal", dependencies: ["RefreshEngine"], swiftSettings: strict),
    .executableTarget(name: "refreshd", dependencies: ["RefreshDaemon"], swiftSettings: strict),
    .executableTarget(
      name: "refresh-worker", dependencies: ["RefreshAPI", "Varlink", "HTTP", "Systemd", "CLinux", "CCrypto"],
      swiftSettings: strict),
    .executableTarget(
      name: "refresh-push",
      dependencies: [
        "RefreshAPI", "RefreshConfig", "RefreshEngine", "Varlink", "HTTP", "Systemd", "CLinux", "CMosquitto", "CCrypto",
      ],
      swiftSettings: strict),
    .executableTarget(
      name: "refreshctl",
      dependencies: [
        "RefreshAPI", "Varlink", "RefreshConfig", "RefreshEngine", "RefreshRehearsal",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    test("RepositoryTests", []),
    test("RefreshEngineTests", ["RefreshEngine"], exclude: ["Learning/reference.py"]),
    .target(
      name: "Simulator",
      dependencies: ["RefreshEngine", .product(name: "HeapModule", package: "swift-collections")],
      path: "Tests/Simulator", swiftSettings: strict),
    .executableTarget(name: "simulate", dependencies: ["Simulator"], path: "Tests/Simulate", swiftSettings: strict),
    .executableTarget(
      name: "engine-bench", dependencies: ["RefreshEngine", "Simulator", "CLinux"], path: "bench/Engine",
      swiftSettings: strict),
    test("SimulatorTests", ["Simulator", "RefreshEngine", "simulate"]),
    test(
      "RefreshStoreTests", ["RefreshStore", "RefreshEngine", "CSQLite"],
      resources: [
        .embedInCode("Fixtures/schema-1.sql"), .embedInCode("Fixtures/schema-2.sql"),
        .embedInCode("Fixtures/schema-3.sql"), .embedInCode("Fixtures/schema-4.sql"),
        .embedInCode("Fixtures/schema-5.sql"), .embedInCode("Fixtures/schema-6.sql"),
      ]),
    test("RefreshConfigTests", ["RefreshConfig"]),
    test("VarlinkTests", ["Varlink", "CLinux"]),
    test(
      "RefreshAPITests", ["RefreshAPI"], exclude: ["test_interfaces.py"], resources: [.embedInCode("messages.json")]),
    test("SystemdTests", ["Systemd"]),
    test("RefreshDaemonTests", ["RefreshDaemon", "RefreshAPI", "RefreshStore", "Simulator", "CLinux"]),
    test("RefreshKitTests", ["RefreshKit", "RefreshAPI", "Varlink", "refreshd"]),
    test("RefreshRehearsalTests", ["RefreshRehearsal", "RefreshEngine"]),
    .executableTarget(
      name: "conditions-probe", dependencies: ["RefreshDaemon", "RefreshEngine", "Systemd"],
      path: "Tests/ConditionsProbe", swiftSettings: strict),
    test("refreshctlTests", ["refreshctl", "RefreshAPI", "Varlink"], exclude: ["test_refreshctl.py"]),
    test("HTTPTests", ["HTTP"]),
    test("refresh-pushTests", ["refresh-push", "RefreshAPI", "RefreshConfig", "Varlink", "HTTP", "CMosquitto"]),
    test("refresh-workerTests", ["refresh-worker", "RefreshAPI", "Varlink", "HTTP"]),
    .executableTarget(
      name: "varlink-certification",
      dependencies: ["Varlink", "Systemd"],
      path: "Tests/VarlinkCertification",
      exclude: ["certification.py", "conftest.py", "test_certification.py", "test_crowds.py"],
      resources: [.embedInCode("org.varlink.certification.varlink")],
      swiftSettings: strict),
  ]
)

func test(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  .testTarget(
    name: name, dependencies: dependencies, exclude: exclude, resources: resources, swiftSettings: strict)
}
