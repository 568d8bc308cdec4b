import RefreshEngine

@testable import RefreshDaemon

/// The answers of the commands that are asked before a refresh starts, and the promise about them.
final class QuestionBook {
  private unowned let world: SimulatedWorld
  /// The last answer that each command gave this life of the daemon, and when.
  private var answers: [AppID: (isYes: Bool, at: Int64)] = [:]
  /// The apps that have waited for nothing but a slot since their commands said yes.
  private var waiting: Set<AppID> = []

  /// How long a yes counts, and how late a timer may be.
  private static let validity: Int64 = 61_000_000
  private static let deferrable: Set<Trigger> = [.interval, .catchUp, .retry, .change]

  init(_ world: SimulatedWorld) { self.world = world }

  func answered(_ app: AppID, isYes: Bool) {
    world.note("\(app) says \(isYes ? "yes" : "no")")
    answers[app] = (isYes, world.now)
    waiting.remove(app)
  }

  /// Notes after each turn which apps wait for nothing but a slot.
  func check(_ daemon: Daemon) {
    for (app, answer) in answers where answer.isYes {
      let isFresh = world.now - answer.at <= Self.validity || waiting.contains(app)
      switch daemon.core.engine.verdict(on: app, at: world.instant) {
      case .held([.concurrency], _) where isFresh: waiting.insert(app)
      case .refreshing: break
      default: waiting.remove(app)
      }
    }
  }

  /// A refresh starts its first task, or an attached process is told to perform it.
  func began(_ refresh: RefreshID, of app: AppID) {
    guard world.apps.first(where: { $0.id == app })?.extras.asks == true,
      let started = world.life?.daemon.core.engine.state(of: app)?.running, started.id == refresh,
      Self.deferrable.contains(started.trigger)
    else { return }
    // The answer counts when the daemon decides; the save before the start may take its time.
    let decided = started.at.microseconds + world.bootedAt
    let hasWaited = waiting.remove(app) != nil
    guard let answer = answers[app], answer.isYes, hasWaited || decided - answer.at <= Self.validity else {
      return world.book.fail(
        .yesComesFirst, "\(refresh) of \(app) starts after \(String(describing: answers[app]))")
    }
  }

  func lost() { (answers, waiting) = ([:], []) }
}
