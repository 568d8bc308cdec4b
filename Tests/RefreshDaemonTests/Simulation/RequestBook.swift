import RefreshEngine
import RefreshStore

@testable import RefreshDaemon

/// The durable requests of users and clients, their answers, and the promises about both.
final class RequestBook {
  /// The settings of an app that its user changes durably.
  private struct Settings: Equatable {
    let isDisabled: Bool
    let isLoggedOut: Bool
    let overrides: Overrides

    init(_ state: AppState?) {
      let state = state ?? AppState()
      (isDisabled, isLoggedOut, overrides) = (state.isDisabled, state.isLoggedOut, state.overrides)
    }
  }

  private struct Request {
    let app: AppID?
    let at: Int64
    let excused: Int64
  }

  private unowned let world: SimulatedWorld
  private var requests: [Int: Request] = [:]
  private var lastRequest = 0
  private var promised: [AppID: Settings] = [:]
  private var unsure: Set<AppID> = []
  private var refusedPayloads: Set<String> = []
  /// The payloads that were refused while the disk had them and did not answer.
  private(set) var refusedInDisk: Set<String> = []

  init(_ world: SimulatedWorld) { self.world = world }

  private func fail(_ promise: DaemonPromise, _ text: String) { world.book.fail(promise, text) }

  func hasRefused(_ payload: String) -> Bool { refusedPayloads.contains(payload) || refusedInDisk.contains(payload) }

  // MARK: - Asking

  func isAsking(_ app: AppID) -> Bool { requests.values.contains { $0.app == app } }

  /// A user asks for a durable change of an app; the closure takes the answer.
  func asks(_ app: AppID) -> (Bool) -> Void {
    ask(app) { [unowned self] isStored in
      let settings = Settings(world.life?.daemon.core.engine.state(of: app))
      if isStored, Settings(world.disk.synced.states[app]) != settings {
        fail(.requestIsOnDisk, "\(app) has no durable \(settings)")
      }
      promised[app] = unsure.remove(app) == nil ? settings : nil
    }
  }

  /// The disk may have a refused change of the app until the change that undoes it is saved.
  func isUnsure(of app: AppID) { unsure.insert(app) }

  /// A client hands in pushes; the closure takes the answer.
  func asksForPushes(_ payloads: [String]) -> (Bool) -> Void {
    ask(nil) { [unowned self] isStored in
      guard isStored else {
        return world.disk.isBusy ? refusedInDisk.formUnion(payloads) : refusedPayloads.formUnion(payloads)
      }
      for payload in payloads where !world.disk.synced.payloads.contains(payload) {
        fail(.requestIsOnDisk, "a push was accepted that is not on the disk")
      }
    }
  }

  private func ask(_ app: AppID?, then note: @escaping (Bool) -> Void) -> (Bool) -> Void {
    lastRequest += 1
    requests[lastRequest] = Request(app: app, at: world.now, excused: world.excused)
    return { [unowned self, number = lastRequest] isStored in
      // A daemon that crashes during the answer reaches nobody with it.
      guard world.life?.isAlive == true else { return }
      world.note("answer \(isStored)")
      guard requests.removeValue(forKey: number) != nil else {
        return fail(.requestsAreAnswered, "a request is answered twice")
      }
      note(isStored)
    }
  }

  // MARK: - Steps

  /// Checks how long requests have waited.
  func check() {
    for request in requests.values where world.book.late(since: request.at, request.excused) > 60_000_000 {
      fail(.requestsAreAnswered, "a request waits")
    }
  }

  /// Checks that a daemon which starts has all that was promised.
  func check(_ loaded: Loaded) {
    for (app, settings) in promised where Settings(loaded.states[app]) != settings {
      fail(.requestIsOnDisk, "\(app) has \(Settings(loaded.states[app])), not \(settings)")
    }
  }

  /// The daemon is gone, with every request that it has not answered.
  func lost() {
    for app in requests.values.compactMap(\.app) { promised[app] = nil }
    (requests, refusedInDisk) = ([:], [])
  }
}
