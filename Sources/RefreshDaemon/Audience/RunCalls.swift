import RefreshAPI
import RefreshEngine
import Varlink

/// The `Run` calls that wait for a refresh to start.
final class RunCalls {
  typealias RunCall = Call<ManagerInterface.Run.Parameters>

  private struct Waiting {
    let call: RunCall
    /// The refresh that was running already when the call came.
    let before: RefreshID?
  }

  private unowned let core: DaemonCore
  private var waiting: [AppID: [Waiting]] = [:]

  init(_ core: DaemonCore) { self.core = core }

  /// Has a call wait for the next refresh of an app, the one after `before` if that is running.
  func wait(_ call: RunCall, for app: AppID, after before: RefreshID?) {
    waiting[app, default: []].append(Waiting(call: call, before: before))
  }

  /// Gives the calls that a refresh answers, and forgets them.
  ///
  /// A call that came while the refresh was being saved waits for the next one.
  func claim(by refresh: RefreshID, of app: AppID) -> [RunCall] {
    let calls = waiting.removeValue(forKey: app) ?? []
    let later = calls.filter { $0.before == refresh }
    if !later.isEmpty { waiting[app] = later }
    return calls.filter { $0.before != refresh }.map(\.call)
  }

  /// Fails the calls that wait for a refresh of an app that will not start.
  func giveUp(_ id: AppID, _ hold: Hold) {
    let app = id.description
    for waiting in waiting.removeValue(forKey: id) ?? [] {
      waiting.call.fail(
        ManagerInterface.Held(app: app, holds: [hold.wire(of: app, wallOffset: core.engine.wallOffset)]))
    }
  }

  func giveUpAll(_ hold: Hold) {
    for app in waiting.keys.sorted() { giveUp(app, hold) }
  }

  /// Fails the calls for apps that have left the configuration.
  func giveUpUnconfigured() {
    for app in waiting.keys.sorted() where core.configuration[app] == nil { giveUp(app, .notConfigured) }
  }

  /// Makes a change that may have the engine drop a request, such as one for another phase, and asks again for the
  /// calls that wait.
  func keeping(_ change: () -> Void) {
    let before = waiting.keys.sorted().map { ($0, core.engine.state(of: $0)) }
    change()
    for (app, before) in before {
      let after = core.engine.state(of: app)
      let isDropped = before?.request != nil && after?.request == nil && after?.running == before?.running
      if isDropped, core.engine.lastingHolds(on: app).isEmpty { core.handle(.requested(app, .manual)) }
    }
  }
}

extension Engine {
  /// The holds that keep an app from being refreshed even if the user asks, and after a running refresh has ended.
  func lastingHolds(on app: AppID) -> [Hold] {
    var holds: [Hold] = []
    if phase(of: app) == .loggedOut { holds.append(.loggedOut) }
    if state(of: app)?.isDisabled == true { holds.append(.disabled) }
    if isStopping { holds.append(.stopping) }
    return holds
  }
}
