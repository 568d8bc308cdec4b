import JSON
import RefreshEngine

@testable import RefreshDaemon

/// The unit of a guard, and the keepers that stop and return it: late, refused by the bus, killed, or without a daemon.
final class SimulatedKeepers {
  /// The guard's app, which is none of the refreshing apps.
  static let app = AppID("org.example.guard")
  static let file = "id = \"org.example.guard\"\nkind = \"guard\"\nunit = \"sync.service\"\nnetwork = \"any\"\n"

  private final class Keeper {
    let key: ProcessKey
    let token: String
    let givesBack: Bool
    var client: SimulatedClient?
    /// Whether the daemon has saved that the unit is kept.
    var isKept: Bool
    var isReturning = false

    init(_ key: ProcessKey, token: String, _ order: JSONValue?) {
      (self.key, self.token) = (key, token)
      (isKept, givesBack) = (order?["is_kept"] == .flag(true), order?["gives_back"] == .flag(true))
    }
  }

  private unowned let world: SimulatedWorld
  private var keepers: [ProcessKey: Keeper] = [:]
  /// Whether the unit runs.
  private(set) var isRunning = true
  private(set) lazy var book = GuardBook(world)

  init(_ world: SimulatedWorld) { self.world = world }

  func start(_ launch: TaskLaunch) {
    let token = launch.environment.first { $0.hasPrefix("REFRESH_TOKEN=") }.map { String($0.dropFirst(14)) }
    guard world.isHealed || !world.fate.happens(5) else {
      book.hasTrouble()
      return world.later(.milliseconds(1)) { [unowned self] in report(launch.key, .notStarted("no such program")) }
    }
    let keeper = Keeper(launch.key, token: token ?? "", launch.input.flatMap(Self.order))
    keepers[launch.key] = keeper
    after(.milliseconds(5) ... .seconds(5)) { [unowned self] in connect(keeper) }
    guard !world.isHealed, world.fate.happens(10) else { return }
    after(.zero ... .hours(1)) { [unowned self] in
      guard keepers[keeper.key] != nil else { return }
      book.hasTrouble()
      end(keeper, .signalled(11))
    }
  }

  private static func order(_ input: [UInt8]) -> JSONValue? {
    do { return try JSONValue(jsonText: input) } catch { return nil }
  }

  private func after(_ range: ClosedRange<Duration>, _ work: @escaping () -> Void) {
    world.after(world.fate.duration(world.isHealed ? .zero ... .seconds(1) : range), work)
  }

  /// The daemon starts, and ends the keepers that an earlier one has left; their unit stays as it is.
  func clean() { keepers = [:] }

  /// The daemon is gone; what it has not saved it cannot return.
  func loseDaemon() {
    book.lost()
    for keeper in inOrder where keeper.client == nil { keepers[keeper.key] = nil }
    // On a full disk the daemon went on in memory: a person has to start the unit again.
    guard let app = Self.app, world.disk.model.states[app]?.keptUnit == nil else { return }
    isRunning = true
  }

  func losePower() {
    keepers = [:]
    isRunning = true
  }

  /// A person starts the unit.
  func startUnit() {
    guard !isRunning, let keeper = inOrder.first, keeper.isKept, !keeper.isReturning else { return }
    world.note("a person starts the unit")
    book.hasTrouble()
    isRunning = true
    after(.zero ... .seconds(2)) { [unowned self] in keep(keeper) }
  }

  private var inOrder: [Keeper] { keepers.values.sorted { $0.key.description < $1.key.description } }

  // MARK: - One keeper

  private func connect(_ keeper: Keeper) {
    guard keepers[keeper.key] === keeper else { return }
    guard let client = world.clients.connect(to: world.socketPath) else { return end(keeper, .exited(1)) }
    keeper.client = client
    client.onReply = { [unowned self] _, error in
      guard error == nil else {
        book.hasTrouble()
        return end(keeper, .exited(1))
      }
      stopUnit(keeper)
    }
    client.onLost = { [unowned self] in
      world.after(.seconds(30)) { [unowned self] in
        guard keepers.removeValue(forKey: keeper.key) != nil else { return }
        world.note("keeper \(keeper.key) returns the unit without a daemon")
        if keeper.isKept { isRunning = true }
      }
    }
    if keeper.givesBack { return giveBack(keeper) }
    keep(keeper)
  }

  /// Has the daemon save that the unit is kept; the answer to that stops it.
  private func keep(_ keeper: Keeper) {
    guard keepers[keeper.key] === keeper, !keeper.isReturning, isRunning || keeper.isKept else { return }
    let text = isRunning ? "stopping" : "stopped"
    keeper.client?.call("Worker.Keep", "{\"token\":\"\(keeper.token)\",\"is_kept\":true,\"text\":\"\(text)\"}")
  }

  private func stopUnit(_ keeper: Keeper) {
    guard keepers[keeper.key] === keeper, isRunning else { return }
    if let app = Self.app, world.life?.daemon.saving.problem == nil, world.disk.model.states[app]?.keptUnit == nil,
      !keeper.isReturning
    {
      world.book.fail(.guardHolds, "the unit is stopped, and the disk does not know")
    }
    keeper.isKept = true
    after(.milliseconds(10) ... .seconds(10)) { [unowned self] in
      guard keepers[keeper.key] === keeper, !keeper.isReturning, isRunning, keeper.client?.isOpen == true else {
        return
      }
      world.note("the unit is stopped")
      isRunning = false
      keep(keeper)
    }
  }

  private func giveBack(_ keeper: Keeper) {
    keeper.isReturning = true
    // A bus that hangs has the keeper killed, and one that refuses has it fail.
    let isRefused = !world.isHealed && world.fate.happens(10)
    if isRefused { book.hasTrouble() }
    after(.milliseconds(10) ... .seconds(isRefused ? 30 : 8)) { [unowned self] in
      guard keepers[keeper.key] === keeper else { return }
      if isRefused { return end(keeper, .exited(1)) }
      if keeper.isKept, !isRunning {
        world.note("the unit is started")
        isRunning = true
      }
      end(keeper, .exited(0))
    }
  }

  func signal(_ key: ProcessKey, _ signal: Int32) {
    guard let keeper = keepers[key] else { return }
    if signal == 15 { return giveBack(keeper) }
    book.hasTrouble()
    world.after(world.fate.duration(.zero ... .seconds(1))) { [unowned self] in end(keeper, .signalled(signal)) }
  }

  private func end(_ keeper: Keeper, _ exit: TaskEnd.Exit) {
    guard keepers.removeValue(forKey: keeper.key) != nil else { return }
    world.note("end of keeper \(keeper.key)")
    keeper.client?.hangUp()
    report(keeper.key, exit)
  }

  private func report(_ key: ProcessKey, _ exit: TaskEnd.Exit) {
    guard let life = world.life, life.isAlive else { return }
    life.launcher.end(key, exit)
  }
}
