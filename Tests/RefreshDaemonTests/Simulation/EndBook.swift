import RefreshEngine
import RefreshStore

@testable import RefreshDaemon

/// How many refreshes of an app have failed in a row, and whether somebody was told that it is failing.
struct FailureCount: Equatable {
  var count: Int32 = 0
  var isTold = false
}

/// The commands and pings that tell how refreshes went, and the promise about them.
final class EndBook {
  private struct Slot: Hashable {
    let app: AppID
    let kind: String
  }

  /// The facts that commands and pings tell of the end of a refresh.
  private struct Facts {
    let outcome: String
    let failures: Int32
    let kinds: Set<String>
  }

  /// An end that was to be told at once, and is not told yet.
  private struct Debt {
    let refresh: RefreshID
    let at: Int64
    let excused: Int64
  }

  private unowned let world: SimulatedWorld
  private var facts: [RefreshID: Facts] = [:]
  private var debts: [Slot: Debt] = [:]
  private var told: [Slot: Set<RefreshID>] = [:]
  /// The ends that this life of the daemon has made, and its counts, whether or not the disk has them.
  private var counted: Set<RefreshID> = []
  private var counts: [AppID: FailureCount] = [:]

  /// The longest wait of a command: those of its app before it may hang.
  private static let patience: Int64 = 300_000_000

  init(_ world: SimulatedWorld) { self.world = world }

  private func fail(_ text: String) { world.book.fail(.endsAreTold, text) }

  // MARK: - Ends

  /// A batch was saved, or the disk has refused it; then the daemon goes on in memory.
  func take(_ batch: Batch, isSaved: Bool) {
    for record in batch.changes.history.refreshes where counted.insert(record.id).inserted { note(record) }
    guard isSaved else { return }
    for app in batch.changes.history.refreshes.map(\.app) { world.disk.model.failures[app] = counts[app] }
  }

  private func note(_ record: RefreshRecord) {
    guard let extras = world.apps.first(where: { $0.id == record.app })?.extras, !record.isStopped else { return }
    var (kinds, count): (Set<String>, FailureCount) = ([], counts[record.app] ?? FailureCount())
    var failures = count.count
    if record.outcome.isFresh {
      count = FailureCount()
      kinds.insert("on_success")
      if record.outcome == .newData { kinds.insert("on_new_data") }
    } else {
      count.count += 1
      failures = count.count
      if !count.isTold, count.count >= extras.failuresBeforeNotice {
        count.isTold = true
        kinds.insert("on_failure")
      }
    }
    kinds.formIntersection(extras.commands)
    if extras.hasPing { kinds.insert("ping") }
    counts[record.app] = count
    facts[record.id] = Facts(outcome: record.outcome.kind.rawValue, failures: failures, kinds: kinds)
    for kind in kinds {
      debts[Slot(app: record.app, kind: kind)] = Debt(refresh: record.id, at: world.now, excused: world.excused)
    }
  }

  // MARK: - Commands

  func started(_ launch: TaskLaunch, _ room: SimulatedCommands.Room) {
    switch room {
    case .notify: checkCommand(launch)
    case .ping: checkPing(launch)
    case .question, .keeper: break
    }
  }

  private func checkCommand(_ launch: TaskLaunch) {
    let slot = Slot(app: launch.app, kind: launch.command.arguments.last ?? "")
    let text = { (name: String) in
      launch.environment.first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.utf8.count + 1)) } ?? ""
    }
    guard let refresh = RefreshID(text("REFRESH_ENDED_ID")), let facts = facts[refresh] else {
      return fail("\(slot) tells of an end that nobody has seen")
    }
    if !facts.kinds.contains(slot.kind) { fail("\(slot) tells of \(refresh), which is \(facts)") }
    if text("REFRESH_OUTCOME") != facts.outcome || text("REFRESH_FAILURES") != "\(facts.failures)" {
      fail("\(slot) of \(refresh) has other facts than \(facts): \(launch.environment)")
    }
    if !told[slot, default: []].insert(refresh).inserted { fail("\(slot) tells of \(refresh) again") }
    if debts[slot]?.refresh == refresh { debts[slot] = nil }
  }

  private func checkPing(_ launch: TaskLaunch) {
    let input = launch.input.map { String(decoding: $0, as: UTF8.self) } ?? ""
    guard !input.contains("secret/start\"") else { return }
    let slot = Slot(app: launch.app, kind: "ping")
    guard let debt = debts.removeValue(forKey: slot), let facts = facts[debt.refresh] else {
      return fail("a ping of \(launch.app) tells of no end")
    }
    if input.contains("secret/fail\"") != (facts.outcome == "failed") {
      fail("the ping of \(debt.refresh) says \(input)")
    }
  }

  // MARK: - Steps

  func check(_ daemon: Daemon) {
    guard !debts.isEmpty, !daemon.core.engine.isStopping else { return }
    for (slot, debt) in debts where world.book.late(since: debt.at, debt.excused) > Self.patience {
      debts[slot] = nil
      // A process that waits in the kernel keeps the commands of its app.
      if !world.commands.wasStuck(slot.app, since: debt.at) { fail("\(slot) has not told of \(debt.refresh)") }
    }
  }

  /// The daemon is gone, with all that waited for its turn.
  func lost() {
    let model = world.disk.model
    (debts, counted, counts) = ([:], [], model.failures)
    for slot in told.keys { told[slot]?.formIntersection(model.outcomes.keys) }
  }
}

extension RefreshRecord {
  /// Whether something other than its deadline or its tasks ended the refresh: that is no failure.
  fileprivate var isStopped: Bool {
    ([outcome] + tasks.map(\.outcome)).contains { outcome in
      switch outcome {
      case .failed(.stopped(let reason)): reason != .deadline
      case .failed(.daemonCrashed): true
      default: false
      }
    }
  }
}
