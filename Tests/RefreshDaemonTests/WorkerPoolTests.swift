import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon

/// The worker that a transfer is given to, and the bounds of the queue, in the whole daemon and in virtual time.
@Suite struct WorkerPoolTests {
  private let (todo, mail): (AppID, AppID)
  private let world: VirtualDaemon

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    mail = try #require(AppID("org.example.mail"))
    world = try VirtualDaemon(apps: [
      "org.example.todo": Self.file("todo", "nobody"), "org.example.mail": Self.file("mail", "nobody"),
    ])
    world.scheduler.run(for: .seconds(600))
  }

  private static func file(_ name: String, _ owner: String, _ more: String = "") -> String {
    """
    id = "org.example.\(name)"
    owner = "\(owner)"
    directory = "/"
    background_interval = "never"
    \(more)
    [[task]]
    run = ["true"]
    """
  }

  private func enqueue(_ hosts: [String]) throws {
    let orders = try hosts.map { host in
      try CheckedTransfer(
        Wire.Request(url: "http://\(host)/file", path: "/nowhere/file", network: Wire.NetworkConstraint.none))
    }
    world.daemon.transfers.enqueue(orders, of: todo) { problem, _ in #expect(problem == nil) }
    world.scheduler.run(for: .seconds(1))
  }

  private var workers: [String] {
    world.launcher.launches.filter { $0.description.hasSuffix(": transfers") }.map(\.owner.name)
  }

  @Test func theTransfersOfANewOwnerGoToAProcessOfTheNewOwner() throws {
    try enqueue(["one.example"])
    #expect(workers == ["nobody"])
    try world.reload(apps: ["org.example.todo": Self.file("todo", "daemon")])
    try enqueue(["two.example"])
    #expect(workers == ["nobody", "daemon"])
    try enqueue(["three.example"])
    #expect(workers == ["nobody", "daemon"], "the new one has room for more")
  }

  @Test func theTransfersOfANewSandboxGoToAProcessInIt() throws {
    try enqueue(["one.example"])
    try world.reload(apps: ["org.example.todo": Self.file("todo", "nobody", "sandbox = \"strict\"")])
    try enqueue(["two.example"])
    #expect(workers.count == 2)
  }

  @Test func theTransfersOfAnAppWithoutAFileCountForItsOwner() throws {
    try enqueue((1...TransferQuota.serversOfUser).map { "host\($0).example" })
    try world.reload(apps: ["org.example.mail": Self.file("mail", "nobody")])
    world.scheduler.run(for: .seconds(1))
    let order = try CheckedTransfer(Wire.Request(url: "http://one.more.example/file", path: "/nowhere/file"))
    let app = try #require(world.daemon.core.configuration[mail])
    #expect(world.daemon.transfers.exceeded(by: [order], of: app)?.limit == TransferQuota.serversOfUser)
  }
}
