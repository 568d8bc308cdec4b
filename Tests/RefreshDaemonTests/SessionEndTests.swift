import RefreshAPI
import RefreshEngine
import Testing

@testable import RefreshDaemon
@testable import RefreshStore

/// The desktop notice about the end of a session of transfers, in the whole daemon and in virtual time.
@Suite struct SessionEndTests {
  private let todo: AppID
  private let world: VirtualDaemon

  init() throws {
    todo = try #require(AppID("org.example.todo"))
    world = try VirtualDaemon(apps: ["org.example.todo": HungDiskTests.file("org.example.todo")])
    world.scheduler.run(for: .seconds(600))
  }

  /// Asks for a transfer; gives its number, or nil if it was refused.
  private func enqueue(notify text: String?) throws -> TransferID? {
    let order = try CheckedTransfer(
      Wire.Request(
        url: "http://127.0.0.1/file", path: "/nowhere/file", network: Wire.NetworkConstraint.none, notify: text))
    var id: TransferID?
    world.daemon.transfers.enqueue([order], of: todo) { id = $0 == nil ? $1.first : nil }
    world.scheduler.run(for: .seconds(1))
    return id
  }

  private func end(_ id: TransferID) {
    world.daemon.core.handle(.transferReported(id, .done))
    world.scheduler.run(for: .seconds(1))
  }

  /// The texts that the desktop was shown.
  private var notices: [String] {
    world.launcher.launches.filter { $0.description.hasSuffix(": desktop notification") }
      .map { String(decoding: $0.input ?? [], as: UTF8.self) }
  }

  @Test func theDesktopHearsOfAnEndThatIsSavedAndNotBefore() throws {
    let id = try #require(try enqueue(notify: "here"))
    world.store.isPrompt = false
    end(id)
    #expect(notices.isEmpty)
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(notices.count == 1 && notices[0].contains("here"))
  }

  @Test func aTransferWhoseWorkerCannotBeStartedSaysWhy() throws {
    world.launcher.problem = "there is no user bus"
    let id = try #require(try enqueue(notify: nil))
    let shown = world.daemon.transfers.view(of: id, at: world.daemon.core.now)
    #expect(shown?.state == .transferring && shown?.message == "there is no user bus")
    world.launcher.problem = nil
    #expect(world.daemon.transfers.view(of: id, at: world.daemon.core.now)?.message == nil)
  }

  @Test func theTextOfARefusedTransferIsNotShown() throws {
    world.store.problem = StoreError(
      .save, path: "store", sqliteCode: 13, systemError: 0, cause: "database or disk is full")
    #expect(try enqueue(notify: "never") == nil)
    world.store.problem = nil
    world.scheduler.run(for: .seconds(11))
    end(try #require(try enqueue(notify: nil)))
    #expect(notices.isEmpty)
  }

  @Test func theTextOfATransferThatIsBeingSavedWaitsForItsOwnSession() throws {
    let first = try #require(try enqueue(notify: "first"))
    world.store.isPrompt = false
    end(first)
    let order = try CheckedTransfer(
      Wire.Request(
        url: "http://127.0.0.1/file", path: "/nowhere/file", network: Wire.NetworkConstraint.none, notify: "second"))
    var second: TransferID?
    world.daemon.transfers.enqueue([order], of: todo) { second = $1.first }
    world.store.isPrompt = true
    world.store.finish()
    world.scheduler.run(for: .seconds(1))
    #expect(notices.count == 1 && notices[0].contains("first"))
    end(try #require(second))
    #expect(notices.count == 2 && notices[1].contains("second"))
  }
}
