import JSON
import RefreshEngine

@testable import RefreshDaemon

/// The worker processes that move files, which fail, stall, are killed and ignore signals.
final class SimulatedWorkers {
  /// A worker process and its transfers.
  fileprivate final class Worker {
    let key: ProcessKey
    let token: String
    var orders: SimulatedClient?
    var reports: SimulatedClient?
    /// The transfers that it moves, by id, with their URLs.
    var given: [Int64: String] = [:]
    var unsent: [(text: String, id: Int64, isDone: Bool)] = []
    var isAlive = true
    var isTelling = false

    init(_ key: ProcessKey, token: String) { (self.key, self.token) = (key, token) }
  }

  private unowned let world: SimulatedWorld
  /// The runs of all workers that were ever started.
  private(set) var ids: Set<RunID> = []
  private var workers: [ProcessKey: Worker] = [:]
  /// The present bytes of each file, and the bytes that survive a loss of power.
  private var files: [String: Int64] = [:]
  private var synced: [String: Int64] = [:]
  /// How many bytes were moved since the daemon started.
  private(set) var moved: Int64 = 0

  private static let size: Int64 = 1_000_000

  init(_ world: SimulatedWorld) { self.world = world }

  /// Whether a launch is a worker's and not a task's.
  static func isWorker(_ launch: TaskLaunch) -> Bool { launch.command.arguments.last == "transfer" }

  func start(_ launch: TaskLaunch) {
    let token = launch.environment.first { $0.hasPrefix("REFRESH_TOKEN=") }.map { String($0.dropFirst(14)) }
    let worker = Worker(launch.key, token: token ?? "")
    world.note("worker \(launch.key) of \(launch.app)")
    ids.insert(launch.key.run)
    guard world.isHealed || !world.dice.happens(5) else {
      return world.later(.milliseconds(1)) { [unowned world] in world.report(launch.key, .notStarted("no such program"))
      }
    }
    workers[launch.key] = worker
    world.after(world.dice.duration(.milliseconds(5) ... .seconds(world.isHealed ? 1 : 20))) { [unowned self] in
      connect(worker)
    }
    guard !world.isHealed, world.dice.happens(20) else { return }
    world.after(world.dice.duration(.zero ... .minutes(10))) { [unowned self] in end(worker, .signalled(11)) }
  }

  /// Ends a worker by a signal; false if the process is no worker.
  func signal(_ key: ProcessKey, _ signal: Int32) -> Bool {
    guard let worker = workers[key] else { return false }
    if signal == 9 || world.isHealed || !world.dice.happens(30) {
      world.after(world.dice.duration(.zero ... .seconds(1))) { [unowned self] in end(worker, .signalled(signal)) }
    }
    return true
  }

  /// The daemon is gone; a worker without a connection ends at once.
  func loseDaemon() {
    for worker in workers.values { worker.isAlive = false }
    (workers, moved) = ([:], 0)
  }

  func losePower() { files = synced }

  /// Ends all workers that may have stalled.
  func heal() {
    for worker in workers.values.sorted(by: { $0.key.description < $1.key.description }) where !worker.given.isEmpty {
      end(worker, .signalled(9))
    }
  }

  // MARK: - One worker

  private func connect(_ worker: Worker) {
    guard worker.isAlive, let orders = world.clients.connect(to: world.socketPath),
      let reports = world.clients.connect(to: world.socketPath)
    else { return }
    (worker.orders, worker.reports) = (orders, reports)
    orders.onReply = { [unowned self] reply, error in
      guard error == nil else { return end(worker, .exited(1)) }
      for order in reply["orders"]?.elements ?? [] { obey(order, worker) }
    }
    orders.onLost = { [unowned self] in end(worker, .exited(0)) }
    reports.onReply = { [unowned self] _, error in
      guard worker.isTelling else { return }
      worker.isTelling = false
      let told = worker.unsent.removeFirst()
      if error == nil { world.book.clients.reported(TransferID(UInt64(told.id)), isDone: told.isDone) }
      sendNext(worker)
    }
    orders.call("Worker.Work", "{\"token\":\"\(worker.token)\"}", more: true)
  }

  private func obey(_ order: JSONValue, _ worker: Worker) {
    let id = order["id"]?.integer ?? 0
    switch order["kind"]?.string {
    case "transfer":
      guard let url = order["transfer"]?["url"]?.string else { return }
      world.note("worker \(worker.key) has transfer \(id)")
      let holders = workers.values.filter { $0.given[id] != nil }
      world.book.clients.given(TransferID(UInt64(id)), to: worker.key, beside: holders.map(\.key))
      worker.given[id] = url
      let bytes = files[url] ?? 0
      tell(worker, id, "\"kind\":\"began\",\"bytes\":\(bytes),\"total\":\(Self.size),\"resume\":\(resume(url))")
      move(id, url, worker)
    case "stop":
      guard worker.given[id] != nil, world.isHealed || !world.dice.happens(10) else { return }
      world.after(world.dice.duration(.zero ... .seconds(3))) { [unowned self] in
        end(id, worker, "\"end\":\"stopped\"")
      }
    case "discard":
      if let url = order["transfer"]?["url"]?.string {
        worker.given[id] = url
        (files[url], synced[url]) = (nil, nil)
      }
      world.after(world.dice.duration(.zero ... .seconds(1))) { [unowned self] in
        end(id, worker, "\"end\":\"stopped\"")
      }
    case "finish":
      world.after(world.dice.duration(.zero ... .seconds(1))) { [unowned self] in end(worker, .exited(0)) }
    default: break
    }
  }

  /// The state of a file that a later worker resumes from.
  private func resume(_ url: String) -> String {
    "{\"durable\":\(synced[url] ?? 0),\"boot\":\"boot \(world.boot)\",\"total\":\(Self.size)}"
  }

  /// Moves a part of a file, and what follows.
  private func move(_ id: Int64, _ url: String, _ worker: Worker) {
    world.after(world.dice.duration(.milliseconds(50) ... .seconds(world.isHealed ? 1 : 40))) { [unowned self] in
      guard worker.isAlive, worker.given[id] != nil else { return }
      let before = files[url] ?? 0
      let part = min(Self.size - before, Int64(world.dice.number(below: 500_000)))
      files[url] = before + part
      moved += part
      let bytes = before + part
      switch world.isHealed ? 0 : world.dice.number(below: 20) {
      case 14: end(id, worker, "\"end\":\"retry\",\"bytes\":\(bytes)")
      case 15:
        let wait = world.dice.number(below: 7_200_000_000)
        end(id, worker, "\"end\":\"retry\",\"bytes\":\(bytes),\"retry_after_us\":\(wait)")
      case 16: end(id, worker, "\"end\":\"no_space\",\"bytes\":\(bytes),\"needed\":1000")
      case 17:
        files[url] = nil
        end(id, worker, "\"end\":\"wrong\",\"bytes\":\(bytes)")
      case 18: if world.dice.happens(30) { end(id, worker, "\"end\":\"failed\",\"bytes\":\(bytes)") }
      case 19: break
      default:
        if bytes == Self.size {
          synced[url] = bytes
          tell(worker, id, "\"kind\":\"fetched\",\"bytes\":\(bytes)")
          return end(id, worker, "\"end\":\"done\",\"bytes\":\(bytes)", isDone: true)
        }
        if world.dice.happens(50) {
          synced[url] = bytes
          tell(worker, id, "\"kind\":\"began\",\"bytes\":\(bytes),\"resume\":\(resume(url))")
        } else {
          tell(worker, id, "\"kind\":\"progress\",\"bytes\":\(bytes)")
        }
        move(id, url, worker)
      }
    }
  }

  private func end(_ id: Int64, _ worker: Worker, _ members: String, isDone: Bool = false) {
    guard worker.isAlive, worker.given.removeValue(forKey: id) != nil else { return }
    tell(worker, id, "\"kind\":\"ended\",\(members)", isDone: isDone)
  }

  private func tell(_ worker: Worker, _ id: Int64, _ members: String, isDone: Bool = false) {
    let text = "{\"token\":\"\(worker.token)\",\"reports\":[{\"id\":\(id),\(members)}]}"
    worker.unsent.append((text, id, isDone))
    // A repeated report of a worker changes nothing.
    if isDone, !world.isHealed, world.dice.happens(5) { worker.unsent.append((text, id, isDone)) }
    sendNext(worker)
  }

  private func sendNext(_ worker: Worker) {
    guard worker.isAlive, !worker.isTelling, let next = worker.unsent.first else { return }
    worker.isTelling = true
    worker.reports?.call("Worker.Report", next.text)
  }

  private func end(_ worker: Worker, _ exit: TaskEnd.Exit) {
    guard worker.isAlive, workers.removeValue(forKey: worker.key) != nil else { return }
    world.note("end of worker \(worker.key)")
    worker.isAlive = false
    worker.orders?.hangUp()
    worker.reports?.hangUp()
    world.report(worker.key, exit)
  }
}
